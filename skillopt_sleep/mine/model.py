"""Sessions -> tasks with the help of a model, which reads the conversations and writes criteria.

The order of steps is the guarantee that `heuristic` gives, and it holds here too. Families and slices are settled
first, from requests alone. The model then sees the conversations of all slices, because somebody has to write the
criteria of gate and test tasks, but never those of two slices in one prompt: what it writes about gate and test
conversations becomes judges of gate and test tasks and nothing else. Its prompts and answers are no part of what
`reflect` is given; an optimiser learns of training tasks only, as ever.
"""

from __future__ import annotations

from collections.abc import Sequence

import anyio
from pydantic import ValidationError

from skillopt_sleep.domain.aio import one_error
from skillopt_sleep.domain.errors import ModelMalformed, ModelUnavailable
from skillopt_sleep.domain.events import Warned
from skillopt_sleep.domain.llm import Prompt
from skillopt_sleep.domain.ports import EventSink, Model
from skillopt_sleep.domain.sessions import Session
from skillopt_sleep.domain.slices import KnownFamily, SplitPolicy
from skillopt_sleep.mine.batches import Batch, batches
from skillopt_sleep.mine.heuristic import Mined, tasks_from
from skillopt_sleep.mine.survey import survey
from skillopt_sleep.mine.written import Written, WrittenKinds

_WIDTH = 8
"""Batches that are asked about at once; how many calls a provider gets is the business of the model's wrappers."""


def mining_prompts(
    sessions: Sequence[Session], known: Sequence[KnownFamily], policy: SplitPolicy
) -> tuple[Prompt, ...]:
    """What mining these sessions would send, prompt by prompt, exactly."""
    found, _ = batches(survey(sessions, known, policy).placed)
    return tuple(batch.prompt for batch in found)


async def mine_with_model(
    sessions: Sequence[Session],
    known: Sequence[KnownFamily],
    policy: SplitPolicy,
    model: Model,
    *,
    events: EventSink,
) -> Mined:
    """Tasks from sessions, with criteria from corrections (by rule) and from what the model read in them.

    A batch that the model gives no usable answer to is counted, and its requests keep what the rules alone gave.
    Raises what concerns every call: `ModelAuthError`, `BudgetExhausted`.
    """
    found = survey(sessions, known, policy)
    asked, hidden = batches(found.placed)
    answers: dict[int, WrittenKinds] = {}
    limiter = anyio.CapacityLimiter(_WIDTH)

    async def ask(place: int, batch: Batch) -> None:
        async with limiter:
            try:
                answers[place] = await _ask(model, batch)
            except (ModelUnavailable, ModelMalformed) as error:
                events(Warned(message=f"Mining: no usable answer about {_families(batch)} requests ({error.message})"))

    async with one_error(anyio.create_task_group()) as group:
        for place, batch in enumerate(asked):
            group.start_soon(ask, place, batch)

    written = Written()
    for place, batch in enumerate(asked):  # in the order of the batches, whichever answer came first
        if place in answers:
            written.add(batch, answers[place])
        else:
            written.dropped["the mining model gave no usable answer"] += _families(batch)
    if hidden:
        written.dropped["not shown to the mining model: too many requests"] = hidden
    return tasks_from(found, written)


async def _ask(model: Model, batch: Batch) -> WrittenKinds:
    reply = await model.generate(batch.prompt, schema=WrittenKinds)
    try:
        return WrittenKinds.model_validate_json(reply.text)
    except ValidationError as error:
        raise ModelMalformed(f"{model.id} did not describe kinds of requests: {error.errors()[0]['msg']}.") from error


def _families(batch: Batch) -> int:
    return sum(len(kind.asked) for kind in batch.kinds)

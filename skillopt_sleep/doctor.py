"""Is everything in place for a night? One finding a line: what was looked at, what is so, and what to do about it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path

from skillopt_sleep.domain.errors import ModelError, SleepError
from skillopt_sleep.domain.health import Finding
from skillopt_sleep.domain.llm import Prompt, Role, UserMessage
from skillopt_sleep.domain.ports import Agent, Model
from skillopt_sleep.domain.reports import HarvestCounts
from skillopt_sleep.domain.tasks import Exact, Task
from skillopt_sleep.pricing import PriceList

CANARY_CALLS = 2
"""Model calls of the canary: with the rule, and without it."""
_FEW_TOKENS = 64


def transcripts(counts: HarvestCounts, where: Mapping[str, Path]) -> Iterator[Finding]:
    """What the sources hold. `where` names the folder of each source."""
    looked = ", ".join(f"{name} in {folder}" for name, folder in where.items())
    used = f"{counts.sessions} sessions of {counts.files} files can be used ({looked})"
    if counts.sessions:
        yield Finding(about="transcripts", state="ok", text=f"{used}.")
    else:
        why = ", ".join(f"{n} {reason.replace('_', ' ')}" for reason, n in sorted(counts.skipped.items()))
        yield Finding(
            about="transcripts",
            state="warning",
            text=f"{used}{'; left out: ' + why if why else ''}.",
            what_to_do="Say --all-projects, --since-days N or --include-headless to use more of them.",
        )
    if counts.skipped_lines:
        lines = ", ".join(f"{n} {reason.replace('_', ' ')}" for reason, n in sorted(counts.skipped_lines.items()))
        yield Finding(about="transcripts", state="warning", text=f"Lines that could not be read: {lines}.")
    if counts.soon_deleted:
        yield Finding(
            about="transcripts",
            state="warning",
            text=f"{counts.soon_deleted} of these files will soon be deleted by their client.",
            what_to_do="What was harvested of them is kept; set `cleanupPeriodDays` in the client to keep the files.",
        )


def prices(models: Mapping[Role, Model], known: PriceList) -> Iterator[Finding]:
    """Whether the price of every chosen model is known."""
    for role, model in models.items():
        if known.of(model) is None:
            yield Finding(
                about="price",
                state="warning",
                text=f"No price is known for {model.id} ({role}): a cap on money cannot hold.",
                what_to_do=f'Put it into prices.toml: [models] "{model.id}" = [dollars in, dollars out] for a million.',
            )
        else:
            yield Finding(about="price", state="ok", text=f"{model.id} ({role}): known, as of {known.as_of}.")


async def answers(role: Role, model: Model) -> Finding:
    """Whether a model answers at all. One short call."""
    prompt = Prompt(
        role=role,
        system="You are being tested for whether you can be reached.",
        messages=(UserMessage(text="Answer with the word ready."),),
        max_tokens=_FEW_TOKENS,
        template="doctor@1",
    )
    try:
        reply = await model.generate(prompt)
    except ModelError as error:
        return Finding(about=f"{role} model", state="problem", text=error.message, what_to_do=error.hint)
    if not reply.text.strip():
        return Finding(about=f"{role} model", state="problem", text=f"{model.id} answered with nothing.")
    return Finding(about=f"{role} model", state="ok", text=f"{reply.model} answers.")


async def canary(agent: Agent) -> Finding:
    """Whether the target really sees the document it works under: a rule that nobody could guess must show."""
    word = f"heron-{secrets.token_hex(4)}"
    task = Task(
        id="canary",
        prompt="What is today's codeword? Answer with the codeword alone; if you do not know one, answer: none.",
        criterion=Exact(answer=word),
        group="canary",
        family="canary",
        slice="train",
        origin="file",
    )
    try:
        told = await agent.attempt(task, f"# Codewords\n\n- Today's codeword is {word}.\n", sample=0)
        untold = await agent.attempt(task, "# Codewords\n\n- There are none today.\n", sample=0)
    except SleepError as error:
        return Finding(about="canary rule", state="problem", text=error.message, what_to_do=error.hint)
    if word in untold.text:
        return Finding(about="canary rule", state="problem", text="The codeword came without having been told.")
    if word not in told.text:
        return Finding(
            about="canary rule",
            state="problem",
            text="The target does not follow the document it is given: a codeword that stands in it did not come back.",
            what_to_do="A model this small cannot be improved by a skill. Choose another --target-model.",
        )
    return Finding(about="canary rule", state="ok", text="The target sees the document that it works under.")

"""Faults injected into nights over real sockets, and how many scores they falsified. It must be none.

    python -m benchmarks.outages [--share 0.25] [--tasks 36]

One epoch for each backend and kind of fault: a service on loopback answers by a fixed rule (a reply holds the section
that the check wants exactly where the skill, or the task itself, asks for it) and lets a seeded share of its answers go
wrong. So the true score of every trial is known. A score that differs from it is falsified; a trial without a score is
missing, which is honest. Pauses are skipped: the clock stands still.
"""

from __future__ import annotations

import argparse
import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import anyio
import anyio.lowlevel

from skillopt_sleep.agents.tool_loop import ToolLoop
from skillopt_sleep.backend.budget import Budget
from skillopt_sleep.backend.cached import MemoryCache
from skillopt_sleep.backend.registry import Options, build
from skillopt_sleep.backend.stack import compose
from skillopt_sleep.consolidate import EpochOptions, optimise
from skillopt_sleep.domain.checks import SectionPresent
from skillopt_sleep.domain.errors import SleepError
from skillopt_sleep.domain.events import Event
from skillopt_sleep.domain.ports import Closable, Model, Roles
from skillopt_sleep.domain.slices import Slice
from skillopt_sleep.domain.tasks import Rules, Task
from skillopt_sleep.domain.trials import Trial
from skillopt_sleep.domain.verdicts import GatePolicy
from skillopt_sleep.judges import JudgeByCriterion
from skillopt_sleep.skilldoc import SkillDoc
from tests.loopback.server import Loopback
from tests.loopback.wire import Answer, Asked, Fault, Say

BACKENDS = ("anthropic", "openai")
SOON = 0.25
"""Seconds after which a call is given up where a service hangs or drips."""
SLOW_KINDS = ("hang", "drip")
EDIT = {"edits": [{"kind": "add_rule", "text": 'Include a section headed "Risks".', "reason": "it was missing"}]}

KINDS: MappingProxyType[str, Answer] = MappingProxyType(
    {
        "429": Fault("status", status=429, error="rate_limit_error", retry_after="7"),
        "529": Fault("status", status=529, error="overloaded_error"),
        "500": Fault("status", status=500),
        "408": Fault("status", status=408),
        "reset": Fault("reset"),
        "drop": Fault("drop"),
        "error in a 200": Fault("stream_error", error="overloaded_error"),
        "truncated JSON": Fault("truncated_json"),
        "sign-in page": Fault("wrong_type"),
        "empty body": Fault("empty_body"),
        "hang": Fault("hang"),
        "drip": Fault("drip"),
        "empty text": Say(text=""),
        "400": Fault("status", status=400, error="invalid_request_error"),
        "cut off": Say(text="## Risks\n\nHalf a", stop="max_tokens"),
        "withheld": Say(text="## Risks", stop="refusal"),
        "401": Fault("status", status=401, error="authentication_error"),
        "no credit": Fault("status", status=400, message="Your credit balance is too low."),
    }
)
_CHAT_STOPS = {"max_tokens": "length", "refusal": "content_filter"}


@dataclass
class Service:
    """The brain: a fixed rule, and a fault instead of it in a seeded share of the answers."""

    fault: Answer
    share: float
    dice: random.Random
    requests: int = 0
    faults: int = 0

    def __call__(self, asked: Asked) -> Answer:
        self.requests += 1
        if self.dice.random() < self.share:
            self.faults += 1
            return self._in_the_words_of(asked)
        if asked.schema is not None:
            return Say(text=json.dumps(EDIT))
        return Say(text="## Risks\n\nMany." if "Risks" in asked.system or wanted_by(asked.last) else "A brief.")

    def _in_the_words_of(self, asked: Asked) -> Answer:
        if isinstance(self.fault, Say) and self.fault.stop and asked.path.endswith("/chat/completions"):
            return Say(text=self.fault.text, stop=_CHAT_STOPS[self.fault.stop])
        return self.fault


@dataclass
class Outcome:
    """One epoch under faults."""

    backend: str
    kind: str
    requests: int = 0
    faults: int = 0
    trials: list[Trial] = field(default_factory=list)
    ended: str = ""

    @property
    def scored(self) -> int:
        return sum(trial.mark is not None for trial in self.trials)

    @property
    def falsified(self) -> int:
        return sum(trial.mark is not None and trial.mark.hard != truth(trial) for trial in self.trials)


def wanted_by(prompt: str) -> bool:
    """Every third task asks for the section itself, so that both scores occur in both arms."""
    return "with its risks" in prompt


def truth(trial: Trial) -> float:
    return 1.0 if trial.arm == "after" or trial.task_id.endswith("wanted") else 0.0


def make_tasks(count: int) -> tuple[Task, ...]:
    slices: tuple[Slice, ...] = ("train", "gate", "gate", "test")
    return tuple(
        Task(
            id=f"{number}-{'wanted' if number % 3 == 0 else 'plain'}",
            prompt=f"Write a brief on question {number}{' with its risks' if number % 3 == 0 else ''}.",
            criterion=Rules(checks=(SectionPresent(arg="Risks"),)),
            group="briefs",
            family=f"family {number}",
            slice=slices[number % len(slices)],
            origin="file",
        )
        for number in range(count)
    )


def model_at(url: str, backend: str, seconds: float) -> Model:
    if backend == "anthropic":
        environ = {"ANTHROPIC_API_KEY": "loopback", "ANTHROPIC_BASE_URL": url}
        return build("anthropic:haiku", Options(environ=environ, call_seconds=seconds))
    return build("openai:little", Options(openai_url=f"{url}/v1", call_seconds=seconds))


def run(backend: str, kind: str, *, share: float, tasks: int, seed: int = 0) -> Outcome:
    """One epoch; everything about it but the timing is seeded."""
    service = Service(KINDS[kind], share, random.Random(f"{seed} {backend} {kind}"))
    outcome = Outcome(backend, kind)
    with Loopback(service) as loopback:
        model = model_at(loopback.url, backend, SOON if kind in SLOW_KINDS else 30.0)
        anyio.run(_epoch, model, make_tasks(tasks), outcome)
    outcome.requests, outcome.faults = service.requests, service.faults
    return outcome


async def _epoch(model: Model, tasks: tuple[Task, ...], outcome: Outcome) -> None:
    async def no_wait(_seconds: float) -> None:
        await anyio.lowlevel.checkpoint()

    ready = compose(
        model,
        budget=Budget(),
        limiter=anyio.CapacityLimiter(8),
        events=_ignore,
        cache=MemoryCache(),
        clock=lambda: 0.0,
        sleep=no_wait,
    )
    roles = Roles(agent=ToolLoop(ready), optimizer=ready, judge=JudgeByCriterion())
    options = EpochOptions(policy=GatePolicy(samples=2))
    try:
        epoch = await optimise(
            "briefs",
            SkillDoc.parse(b"# Briefs\n\nAnswer in two paragraphs.\n", path=Path("SKILL.md")),
            tasks,
            roles,
            options,
            events=_ignore,
            on_trial=outcome.trials.append,
        )
        verdict = epoch.verdict
        outcome.ended = f"{verdict.decision} ({verdict.reason})" if verdict else f"no verdict: {epoch.stopped}"
    except SleepError as error:
        outcome.ended = f"stopped ({error.code})"
    finally:
        if isinstance(model, Closable):
            await model.aclose()


def _ignore(_: Event) -> None:
    """Only trials are of interest here."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=0.25)
    parser.add_argument("--tasks", type=int, default=36)
    given = parser.parse_args()
    print("| kind | backend | requests | faults | trials | scored | missing | falsified | ended |")
    print("|---|---|---|---|---|---|---|---|---|")
    outcomes = [run(b, kind, share=given.share, tasks=given.tasks) for kind in KINDS for b in BACKENDS]
    for o in outcomes:
        trials = len(o.trials)
        counts = f"{o.requests} | {o.faults} | {trials} | {o.scored} | {trials - o.scored} | {o.falsified}"
        print(f"| {o.kind} | {o.backend} | {counts} | {o.ended} |")
    faults, scored, falsified = (sum(getattr(o, name) for o in outcomes) for name in ("faults", "scored", "falsified"))
    print(f"\n{faults:,} faults of {len(KINDS)} kinds, {scored:,} scores, {falsified} falsified")


if __name__ == "__main__":
    main()

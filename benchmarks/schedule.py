"""How close a night comes to the ideal schedule of its own calls.

    python -m benchmarks.schedule [--latency 0.3] [--slots 16] [--tasks 40]

A night over 40 tasks runs against the simulated model with every call awaiting 300 ms. Each real call is recorded with
its start, its end and what it was for. From these the call graph follows: a set of edits needs all training replays, a
candidate's training replays need its set of edits, the chosen candidate's held-out replays need all of those; baseline
replays need nothing. The ideal is a list schedule of the same calls with their recorded latencies on the same number of
slots, longest remaining path first.
"""

from __future__ import annotations

import argparse
import heapq
import importlib
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from pydantic import BaseModel

from skillopt_sleep import app
from skillopt_sleep.backend.registry import Options
from skillopt_sleep.backend.sim import SimModel, strength_named
from skillopt_sleep.domain.llm import Prompt, Reply
from skillopt_sleep.domain.ports import Model
from skillopt_sleep.requests import RunRequest
from skillopt_sleep.wiring import Environment

SKILL = "# Briefs\n\nAnswer the question in two or three paragraphs.\n"
FAMILIES = ("train", "gate", "test")


@dataclass(frozen=True)
class Call:
    stage: str
    """train-before, held-out-before, reflect-N, train-after-N or held-out-after."""
    started: float
    ended: float


@dataclass
class Recorder:
    """The simulated model with a latency, remembering every call. Stages are told apart by document and task."""

    inner: Model
    original: str = ""
    calls: list[Call] = field(default_factory=list)

    @property
    def id(self) -> str:
        return self.inner.id

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        started = time.monotonic()
        reply = await self.inner.generate(prompt, schema=schema)
        self.calls.append(Call(self._stage(prompt), started, time.monotonic()))
        return reply

    def _stage(self, prompt: Prompt) -> str:
        if prompt.role == "optimizer":
            return "reflect"
        slice_ = "train" if "(train)" in prompt.messages[0].text else "held-out"
        return f"{slice_}-{'after' if 'skillopt-sleep:begin' in prompt.system else 'before'}"


RECORDERS: list[Recorder] = []
LATENCY = [0.3]


def slow(model: str | None, options: Options) -> Model:
    """The factory that the night's model spec names."""
    recorder = Recorder(SimModel(strength_named(model or "mid"), seed=options.seed, latency=LATENCY[0]))
    RECORDERS.append(recorder)
    return recorder


NEEDS = {
    "train-before": (),
    "held-out-before": (),
    "reflect": ("train-before",),
    "train-after": ("reflect",),
    "held-out-after": ("train-after", "reflect"),
}


def ideal(calls: list[Call], slots: int) -> float:
    """Length of a list schedule: at each moment a free slot takes the ready call with the longest path behind it."""
    latencies: dict[str, list[float]] = defaultdict(list)
    for call in calls:
        latencies[call.stage].append(call.ended - call.started)

    def path(stage: str) -> float:
        longest = max(latencies[stage], default=0.0)
        return longest + max((path(later) for later, needs in NEEDS.items() if stage in needs), default=0.0)

    left = {stage: len(latencies[stage]) for stage in NEEDS}
    waiting = [(-path(stage), stage, latency) for stage, values in latencies.items() for latency in values]
    waiting.sort()
    running: list[tuple[float, str]] = []
    now = 0.0
    while waiting or running:
        ready = [job for job in waiting if all(left[need] == 0 for need in NEEDS[job[1]])]
        for job in ready[: slots - len(running)]:
            waiting.remove(job)
            heapq.heappush(running, (now + job[2], job[1]))
        now, stage = heapq.heappop(running)
        left[stage] -= 1
    return now


def main(latency: float, slots: int, tasks: int) -> None:
    LATENCY[0] = latency
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        skill = root / "claude" / "skills" / "briefs" / "SKILL.md"
        skill.parent.mkdir(parents=True)
        skill.write_text(SKILL, encoding="utf-8")
        rows = [
            {
                "id": f"t{number:02}",
                "prompt": f"Write a brief on question number {number} ({slice_}).",
                "family": f"question {number}",
                "slice": slice_,
                "checks": [{"op": "section_present", "arg": "Open questions"}],
            }
            for number in range(tasks)
            for slice_ in [FAMILIES[0 if number % 20 < 7 else 1 if number % 20 < 16 else 2]]
        ]
        file = root / "tasks.yaml"
        file.write_text(yaml.safe_dump({"tasks": rows}), encoding="utf-8")
        environ = {"SKILLOPT_SLEEP_HOME": str(root / "state"), "CLAUDE_CONFIG_DIR": str(root / "claude")}
        spec = "benchmarks.schedule:slow"
        app.run(
            RunRequest(
                target_model=spec,
                optimizer_model=spec,
                tasks=str(file),
                skills=("briefs",),
                slots=slots,
                max_calls=9999,
                yes=True,
            ),
            Environment(environ=environ, cwd=root, home=root),
        )
    calls = [call for recorder in RECORDERS for call in recorder.calls]
    first, last = min(call.started for call in calls), max(call.ended for call in calls)
    stages = {stage: sum(1 for call in calls if call.stage == stage) for stage in NEEDS}
    trained = max(call.ended for call in calls if call.stage == "train-before")
    early = sum(1 for call in calls if call.stage == "held-out-before" and call.started < trained)
    best, wall = ideal(calls, slots), last - first
    print(
        f"SIMULATED model, {latency * 1000:.0f} ms a call, {slots} slots, {tasks} tasks, {len(calls)} calls: {stages}"
    )
    print(f"first request to last reply {wall:.2f} s; ideal list schedule {best:.2f} s; ratio {wall / best:.3f}")
    print(f"baseline calls begun before the last training replay ended: {early} of {stages['held-out-before']}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=0.3)
    parser.add_argument("--slots", type=int, default=16)
    parser.add_argument("--tasks", type=int, default=40)
    arguments = parser.parse_args()
    # the night loads the model by import string, which must find this very module and not a second copy of it
    importlib.import_module("benchmarks.schedule").main(arguments.latency, arguments.slots, arguments.tasks)

"""How close a transfer matrix comes to the ideal schedule of its own calls.

    python -m benchmarks.transfer_wall [--latency 0.3] [--slots 16]

The bundled brief writer, learned and deployed on three models with a placebo, against a loopback Messages API that
answers each call after 300 ms with what a simulated model says. The server notes when each request came and what it was
for: whose learning, or which skill text on which model. From these the call graph follows: edits need all training
replays, the candidates' training replays need the edits, the gate's replays of the chosen one need those; a learned
skill is deployed when its gate is done, the placebo when every gate is; the skill as it is, and none, need nothing. The
ideal is a list schedule of these calls, each of exactly the server's latency, longest remaining path first; that the
gate looks in batches is not granted to it.
"""

from __future__ import annotations

import argparse
import heapq
import json
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from skillopt_sleep import app
from skillopt_sleep.experiments.gbrain_bench import find_data_root
from skillopt_sleep.requests import TransferRequest
from skillopt_sleep.wiring import Environment
from tests.loopback.minds import simulated
from tests.loopback.server import Loopback
from tests.loopback.wire import Answer, Asked, Fault

MODELS = {"haiku": "mid", "sonnet": "strong", "opus": "strong"}
"""Name of the model at the service -> strength of the simulated mind that answers for it."""
LEARNING = ("train-before", "gate-before", "reflect", "train-after", "gate-after")


@dataclass(frozen=True)
class Call:
    stage: str
    """A stage of learning, "test-before" or "test-after"."""
    model: str
    text: str
    """The system text: it tells skill texts apart."""
    came: float


@dataclass
class Service:
    """The minds behind the service, and what they were asked."""

    latency: float
    slices: dict[str, str]
    """Prompt of a task -> its slice."""
    calls: list[Call] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.minds = {name: simulated(strength) for name, strength in MODELS.items()}

    def __call__(self, asked: Asked) -> Answer:
        came = time.monotonic()
        name = next(name for name in MODELS if name in asked.model)
        slice_ = self.slices.get(asked.messages[0][1])
        changed = "skillopt-sleep:begin" in asked.system or "great flood" in asked.system
        stage = f"{slice_}-{'after' if changed else 'before'}" if slice_ else "reflect"
        self.calls.append(Call(stage, name, asked.system, came))
        answer = self.minds[name](asked)
        if isinstance(answer, Fault):
            return answer
        return replace(answer, delay=max(0.0, self.latency - (time.monotonic() - came)))


Stage = tuple[str, str]
"""Stage and model; a deployed text takes the place of the model where the text decides when it can begin."""


def graph(calls: list[Call]) -> tuple[dict[Stage, int], dict[Stage, tuple[Stage, ...]]]:
    """How many calls each stage holds, and which stages each needs."""
    gated = {(call.text, call.model) for call in calls if call.stage == "gate-after"}
    count: Counter[Stage] = Counter()
    needs: dict[Stage, tuple[Stage, ...]] = {}
    for name in MODELS:
        needs |= {
            ("train-before", name): (),
            ("gate-before", name): (),
            ("reflect", name): (("train-before", name),),
            ("train-after", name): (("reflect", name),),
            ("gate-after", name): (("train-after", name), ("reflect", name)),
        }
    gates = tuple((stage, name) for stage in ("gate-before", "gate-after") for name in MODELS)
    for call in calls:
        key = (call.stage, call.model)
        if call.stage == "test-before":
            needs[key] = ()
        elif call.stage == "test-after":
            sources = [model for text, model in gated if text == call.text]
            key = (call.stage, sources[0] if sources else "placebo")
            needs[key] = tuple(gate for gate in gates if not sources or gate[1] in sources)
        count[key] += 1
    return dict(count), {stage: tuple(need for need in found if need in count) for stage, found in needs.items()}


def ideal(count: dict[Stage, int], needs: dict[Stage, tuple[Stage, ...]], latency: float, slots: int) -> float:
    """Length of the list schedule: at each moment a free slot takes the ready call with the longest path behind it."""

    def path(stage: Stage) -> float:
        return latency + max((path(later) for later in count if stage in needs[later]), default=0.0)

    left = dict(count)
    waiting = sorted(((-path(stage), stage) for stage, number in count.items() for _ in range(number)), reverse=True)
    running: list[tuple[float, Stage]] = []
    now = 0.0
    while waiting or running:
        ready = [job for job in reversed(waiting) if all(left[need] == 0 for need in needs[job[1]])]
        for job in ready[: slots - len(running)]:
            waiting.remove(job)
            heapq.heappush(running, (now + latency, job[1]))
        now, stage = heapq.heappop(running)
        left[stage] -= 1
    return now


def main(latency: float, slots: int) -> None:
    seed = find_data_root("builtin") / "seed-missing-structure"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        skill = root / "claude" / "skills" / "brief-writer"
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_bytes((seed / "SKILL.md").read_bytes())
        tasks, slices = [], {}
        for name in ("benchmark", "held-out"):
            for number, line in enumerate((seed / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()):
                row = json.loads(line)
                slices[row["task"]] = "test" if name == "held-out" else ("train", "gate")[number % 2]
                tasks.append({"id": row["task_id"], "prompt": row["task"], "checks": row["judge"]["checks"]})
                tasks[-1]["slice"] = slices[row["task"]]
        (root / "tasks.json").write_text(json.dumps({"tasks": tasks}), encoding="utf-8")
        (root / "project").mkdir()
        service = Service(latency, slices)
        with Loopback(service) as loopback:
            environ = {
                "SKILLOPT_SLEEP_HOME": str(root / "state"),
                "CLAUDE_CONFIG_DIR": str(root / "claude"),
                "ANTHROPIC_BASE_URL": loopback.url,
                "ANTHROPIC_API_KEY": "sk-ant-test",
            }
            report = app.transfer(
                TransferRequest(
                    skills=("brief-writer",),
                    tasks=str(root / "tasks.json"),
                    deploy_on=tuple(f"anthropic:{name}" for name in MODELS),
                    control=True,
                    slots=slots,
                    max_calls=9999,
                    max_usd=1000,
                    daily_usd=1000,
                    max_tokens=50_000_000,
                    yes=True,
                ),
                Environment(environ=environ, cwd=root / "project", home=root),
            ).report
    if report.partial:
        raise SystemExit(f"partial: {report.partial}")
    count, needs = graph(service.calls)
    stages = {stage: sum(number for (of, _), number in count.items() if of == stage) for stage, _ in count}
    came = [call.came for call in service.calls]
    wall, best = max(came) + latency - min(came), ideal(count, needs, latency, slots)
    most = max(sum(1 for other in came if call <= other < call + latency) for call in came)
    print(f"Simulated minds behind a loopback Messages API, {latency * 1000:.0f} ms a call, {slots} slots, 3 models")
    print(f"{len(came)} calls: {stages}; most requests within one latency: {most}")
    print(f"first request to last reply {wall:.2f} s; ideal list schedule {best:.2f} s; ratio {wall / best:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=0.3)
    parser.add_argument("--slots", type=int, default=16)
    arguments = parser.parse_args()
    main(arguments.latency, arguments.slots)

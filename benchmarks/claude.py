"""What a call through Claude Code costs beyond the model: time, memory, requests. Against a loopback service.

    python -m benchmarks.claude PROGRAM [CALLS]

PROGRAM is a `claude` (`.ci/clients` fetches one). Nothing leaves the machine; the service answers at once, or after the
delay that a table names.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio

from skillopt_sleep import app
from skillopt_sleep.backend.claude_cli import ClaudeModel
from skillopt_sleep.backend.claude_worker import SWITCHES
from skillopt_sleep.domain.errors import ModelError
from skillopt_sleep.domain.llm import Prompt, UserMessage
from skillopt_sleep.domain.skills import EditList
from skillopt_sleep.experiments.demo import lay_out
from skillopt_sleep.requests import RunRequest
from skillopt_sleep.wiring import Environment
from tests.loopback.minds import simulated
from tests.loopback.server import Loopback
from tests.loopback.wire import Asked, Brain, Fault, Say

FLAGS = (
    "-p --safe-mode --strict-mcp-config --no-session-persistence --output-format json --model claude-haiku-5-5".split()
)


@dataclass(frozen=True)
class Bench:
    """A service, and the client between it and us."""

    program: Path
    service: Loopback
    environ: dict[str, str]
    folder: Path

    def model(self, workers: int) -> ClaudeModel:
        return ClaudeModel("claude-haiku-5-5", self.program, environ=self.environ, workers=workers)

    def once(self, *more: str) -> float:
        """Seconds of a process that answers one prompt and ends."""
        command = [str(self.program), *FLAGS, "--setting-sources", "", "--tools", "", "--system-prompt", "S", *more]
        began = time.perf_counter()
        environ = {**self.environ, **SWITCHES}
        subprocess.run(command, input=b"Hello", env=environ, cwd=self.folder, capture_output=True, check=True)
        return time.perf_counter() - began


@contextmanager
def bench(program: Path, brain: Brain) -> Iterator[Bench]:
    with Loopback(brain) as service, tempfile.TemporaryDirectory() as folder:
        environ = {"PATH": os.environ["PATH"], "HOME": folder, "ANTHROPIC_API_KEY": "sk-ant-none"}
        environ |= {"ANTHROPIC_BASE_URL": service.url, "CLAUDE_CONFIG_DIR": folder + "/config"}
        yield Bench(program, service, environ, Path(folder))


def prompt(text: str = "Hello", system: str = "S", max_tokens: int = 200) -> Prompt:
    return Prompt(role="target", system=system, messages=(UserMessage(text=text),), max_tokens=max_tokens)


def using(model: ClaudeModel, job: Callable[[ClaudeModel], Awaitable[None]]) -> None:
    async def main() -> None:
        try:
            await job(model)
        finally:
            await model.aclose()

    anyio.run(main)


def overhead(program: Path, calls: int) -> None:
    print(f"\nSeconds a call, the service answers at once, one after the other, {calls} calls\n")
    print("| | first | median | largest |\n|---|---|---|---|")
    with bench(program, lambda _: Say("ok")) as it:
        row("a process for each call", [it.once() for _ in range(calls)])
        times: list[float] = []

        async def warm(model: ClaudeModel) -> None:
            for _ in range(calls):
                began = time.perf_counter()
                await model.generate(prompt())
                times.append(time.perf_counter() - began)

        using(it.model(1), warm)
        row("one worker", times)


def row(name: str, times: list[float]) -> None:
    print(f"| {name} | {times[0]:.2f} | {statistics.median(times[1:]):.3f} | {max(times[1:]):.3f} |")


def throughput(program: Path, calls: int, delay: float) -> None:
    print(f"\n{calls} calls at once, the service takes {delay:g} s for each\n")
    print("| workers | wall s | ideal s | overhead a call, s | memory of all workers, MB |\n|---|---|---|---|---|")
    for workers in (1, 4):
        memory: list[int] = []
        with bench(program, lambda _: Say("ok", delay=delay)) as it:
            wall = 0.0

            async def all_at_once(model: ClaudeModel, memory: list[int] = memory, workers: int = workers) -> None:
                nonlocal wall
                await ask(model, workers)  # so that all of them run
                began = time.perf_counter()
                await ask(model, calls)
                wall = time.perf_counter() - began
                memory.append(sum(map(resident, model.pids)))

            using(it.model(workers), all_at_once)
        ideal = calls * delay / workers
        print(f"| {workers} | {wall:.2f} | {ideal:.2f} | {(wall - ideal) * workers / calls:.3f} | {memory[0]} |")


async def ask(model: ClaudeModel, calls: int) -> None:
    async with anyio.create_task_group() as group:
        for number in range(calls):
            group.start_soon(model.generate, prompt(str(number)))


def resident(pid: int) -> int:
    """Megabytes."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) // 1024


def structured(program: Path) -> None:
    print("\nOne structured reply (a list of edits)\n\n| | requests | input tokens, estimated |\n|---|---|---|")
    schema = json.dumps(without(EditList.model_json_schema(), "discriminator"))  # the client refuses that word
    with bench(program, lambda _: Say('{"edits": []}')) as it:
        it.once("--json-schema", schema)
        print(f"| `--json-schema` | {len(it.service.asked)} | {sum(len(a.raw) // 4 for a in it.service.asked)} |")
    with bench(program, lambda _: Say('{"edits": []}')) as it:

        async def in_words(model: ClaudeModel) -> None:
            await model.generate(prompt(), schema=EditList)

        using(it.model(1), in_words)
        print(f"| asked in words | {len(it.service.asked)} | {sum(len(a.raw) // 4 for a in it.service.asked)} |")


def without(value: Any, key: str) -> Any:
    """A JSON value without a key, at any depth."""
    if isinstance(value, dict):
        return {name: without(inner, key) for name, inner in value.items() if name != key}
    return [without(inner, key) for inner in value] if isinstance(value, list) else value


FAULTS: dict[str, Say | Fault] = {
    "an answer": Say("x" * 100),
    "cut at max_tokens": Say("x" * 800, stop="max_tokens", output_tokens=200),
    "declined": Say("No.", stop="refusal"),
    "empty": Say(""),
    "429": Fault("status", status=429, error="rate_limit_error", retry_after="1"),
    "529": Fault("status", status=529, error="overloaded_error"),
    "400": Fault("status", status=400, error="invalid_request_error"),
    "404": Fault("status", status=404, error="not_found_error"),
    "reset": Fault("reset"),
    "dropped stream": Fault("drop"),
    "error in a stream": Fault("stream_error", error="overloaded_error"),
    "HTML page": Fault("wrong_type"),
}


def overshoot(program: Path, calls: int) -> None:
    print(f"\nRequests and tokens of one call, the largest of {calls} calls (delay 50 ms)\n")
    print("| the service's answer | requests | tokens, of those reserved |\n|---|---|---|")
    for name, answer in FAULTS.items():
        requests, share = worst(program, calls, replace(answer, delay=0.05))
        print(f"| {name} | {requests} | {share:.0%} |")


def worst(program: Path, calls: int, answer: Say | Fault) -> tuple[int, float]:
    """Most requests of a call, and the largest share that a call used of the tokens reserved for it."""
    requests, share = 0, 0.0
    with bench(program, lambda _: answer) as it:

        async def measure(model: ClaudeModel) -> None:
            nonlocal requests, share
            for number in range(calls):
                before, asked = len(it.service.asked), prompt(f"Question {number}")
                with suppress(ModelError):
                    await model.generate(asked)
                await anyio.sleep(0.1)  # a request that was begun meanwhile is counted
                mine = it.service.asked[before:]
                requests = max(requests, len(mine))
                share = max(share, sum(tokens(one, answer) for one in mine) / sum(model.most_tokens(asked, None)))

        using(it.model(1), measure)
    return requests, share


def tokens(asked: Asked, answer: Say | Fault) -> int:
    """As a service would count them: a quarter of the bytes, and what was written."""
    written = (answer.output_tokens or len(answer.text) // 4) if isinstance(answer, Say) else 0
    return len(asked.raw) // 4 + written


def night(program: Path) -> None:
    with bench(program, simulated("strong", seed=1)) as it:
        places = lay_out(it.folder / "demo")
        environ = {**places.environment.environ, **it.environ, "CLAUDE_CONFIG_DIR": str(it.folder / "demo" / "claude")}
        request = RunRequest(
            target_model="claude:haiku", claude_path=str(program), all_projects=True, since_days=3650, yes=True
        )
        view = app.run(request, Environment(environ=environ, cwd=places.environment.cwd, home=places.environment.home))
        stamps = {json.loads(asked.body["metadata"]["user_id"])["device_id"] for asked in it.service.asked}
        verdicts = ", ".join(f"{s.skill} {s.verdict.decision if s.verdict else 'none'}" for s in view.report.skills)
        documents = len({asked.system for asked in it.service.asked})
        print(
            f"\nThe demo's night, three skills, four workers: {len(it.service.asked)} requests for "
            f"{sum(row.calls for row in view.report.spend)} calls, {documents} system prompts, "
            f"{len(stamps)} processes started. {verdicts}."
        )


def main(program: Path, calls: int) -> None:
    overhead(program, calls)
    throughput(program, 2 * calls, 0.5)
    structured(program)
    overshoot(program, 5)
    night(program)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20)

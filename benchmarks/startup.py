"""CPU time of `--help` and `status`, against a one-command program on the same libraries.

    python -m benchmarks.startup [RUNS]

The yardstick is the smallest program that anyone could write with the libraries that both commands need: cyclopts,
pydantic and rich; one model, one command, one table.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

YARDSTICK = '''
from typing import Annotated
from cyclopts import App, Parameter
from pydantic import BaseModel
from rich.console import Console
from rich.table import Table

class Request(BaseModel):
    name: str = "x"
    """A name."""

app = App(name="one", help="One command.", version="1")

@app.command
def hello(*, request: Annotated[Request | None, Parameter(name="*")] = None) -> None:
    """Say hello."""
    table = Table("name")
    table.add_row((request or Request()).name)
    Console().print(table)

app()
'''
FORBIDDEN = ("anthropic", "mcp", "jinja2", "rapidfuzz", "jsonschema")


def cpu_seconds(command: list[str], environ: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, env=environ, stdin=subprocess.DEVNULL, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def main(runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        yardstick = Path(folder) / "one.py"
        yardstick.write_text(YARDSTICK, encoding="utf-8")
        environ = {**os.environ, "SKILLOPT_SLEEP_HOME": str(Path(folder) / "state"), "HOME": folder}
        commands = {
            "one-command --help": [sys.executable, str(yardstick), "--help"],
            "one-command hello": [sys.executable, str(yardstick), "hello"],
            "skillopt-sleep --help": [sys.executable, "-m", "skillopt_sleep", "--help"],
            "skillopt-sleep status": [sys.executable, "-m", "skillopt_sleep", "status"],
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(runs):  # interleaved, so that a busy machine slows all of them alike
            for name, command in commands.items():
                times[name].append(cpu_seconds(command, environ))
    medians = {name: statistics.median(values) for name, values in times.items()}
    print(f"median CPU seconds of {runs} runs each")
    for name, seconds in medians.items():
        print(f"  {name:24} {seconds:.3f}")
    for ours, theirs in (("--help", "--help"), ("status", "hello")):
        ratio = medians[f"skillopt-sleep {ours}"] / medians[f"one-command {theirs}"]
        print(f"  {ours}: {ratio:.2f} times the one-command program")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)

"""On a terminal, a night that can cost money shows its price and asks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.desk import Desk, rows

pty = pytest.importorskip("pty", reason="a pseudo-terminal is a POSIX thing")


def on_a_terminal(desk: Desk, answer: str) -> tuple[int, str]:
    """The exit code and everything that stood on the terminal."""
    ours, theirs = pty.openpty()
    environ = {**os.environ, **desk.environment.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "COLUMNS": "120"}
    command = [sys.executable, "-m", "skillopt_sleep", "run", "--tasks", desk.tasks(rows()), "--skills", "briefs"]
    command += ["--target-model", "tests.engine.desk:mortal"]
    with subprocess.Popen(
        command, cwd=desk.root / "project", env=environ, stdin=theirs, stdout=theirs, stderr=theirs
    ) as night:
        os.close(theirs)
        seen, answered = "", False
        while True:
            try:
                part = os.read(ours, 65536).decode("utf-8", "replace")
            except OSError:  # the other side is closed
                break
            seen += part
            if "Begin? [y/N]" in seen and not answered:
                os.write(ours, f"{answer}\n".encode())
                answered = True
    os.close(ours)
    return night.returncode, seen


@pytest.mark.slow
def test_no_is_the_default_and_spends_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    code, seen = on_a_terminal(desk, "")
    assert code == 6
    assert "at a price that is not known" in seen
    assert "nothing was spent" in seen
    assert not (tmp_path / "calls.log").exists()


@pytest.mark.slow
def test_yes_begins_the_night_that_was_shown(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    code, seen = on_a_terminal(desk, "y")
    assert code == 0
    assert "Review it: skillopt-sleep show" in seen
    assert (tmp_path / "calls.log").exists()

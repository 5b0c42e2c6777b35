"""The demo on the screen."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from rich.syntax import Syntax

from skillopt_sleep.cli import output
from skillopt_sleep.cli.progress import Progress
from skillopt_sleep.experiments.demo import OPTIMIZER, TARGET, DemoView, demo


def run_demo(*, seed: int, folder: Path | None, as_json: bool) -> int:
    """Run the demo and print what happened. Exit code 0, or 1 where the night was stopped or the undo was not exact."""
    out = output.console()
    if not as_json:
        out.print("One night on bundled sessions and three bundled skills. Nothing of yours is read or changed.")
        out.print(
            f"The model is SIMULATED (target {TARGET}, optimiser {OPTIMIZER}, seed {seed}): no call leaves here.\n"
        )
    began = time.monotonic()
    with Progress(quiet=as_json) as events:
        view = demo(seed=seed, folder=folder, events=events)
    if as_json:
        output.as_json_text(view)
    else:
        _show(view, time.monotonic() - began)
    return 1 if view.night.report.status != "finished" or view.restored is False else 0


def _show(view: DemoView, seconds: float) -> None:
    out = output.console()
    out.print()
    if view.adopted and view.undone:
        out.print(f"Adopting {view.adopted.proposal_id} changes the skill like this:\n")
        out.print(
            Syntax(view.diff, "diff", background_color="default", word_wrap=True) if out.is_terminal else view.diff
        )
        restored = "byte for byte as it was" if view.restored else "NOT as it was: this is a bug"
        out.print(f"{view.adopted.summary}\n{view.undone.summary}")
        out.print(f"After the undo the file is {restored}.\n")
    output.night(view.night, as_json=False, strict=False, review=False)
    out.print(f"\nDone in {seconds:.0f} s. Everything lies in {view.folder}.")
    here = f"cd {view.folder}/shop && SKILLOPT_SLEEP_HOME=../state CLAUDE_CONFIG_DIR=../claude"
    out.print(f"Look around in it: {here} {sys.executable} -m skillopt_sleep show release-notes", soft_wrap=True)
    out.print("Next: `skillopt-sleep harvest` counts what your own past sessions hold; it calls no model.")

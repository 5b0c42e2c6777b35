"""The command line: parse, call a use-case, render. No logic of its own."""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code (listed in `skillopt_sleep.commandline`)."""
    from skillopt_sleep import commandline
    from skillopt_sleep.cli.commands import build

    return commandline.run(build, arguments)

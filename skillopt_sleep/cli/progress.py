"""Live progress of a night on standard error: bars on a terminal, one line a step elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeVar

from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from skillopt_sleep.domain.events import (
    CallFinished,
    Event,
    PhaseFinished,
    PhaseStarted,
    TrialFinished,
    VerdictReached,
    Warned,
)

T = TypeVar("T")
_PHASES = {
    "harvest": "reading past sessions",
    "mine": "finding recurring tasks",
    "replay": "replaying training tasks",
    "reflect": "proposing edits",
    "gate": "testing on held-out tasks",
    "test": "measuring on sealed tasks",
    "stage": "staging",
}
_VERDICTS = {"accept": "better", "reject": "refused", "inconclusive": "cannot tell"}


class Progress:
    """An event sink that shows what happens; nothing at all when the caller wants JSON only. A context manager."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = Console(file=sys.stderr, highlight=False, markup=False, emoji=False, quiet=quiet)
        self._bars = Bars(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}"),
            console=self._console,
        )
        self._live = (
            Live(self._bars, console=self._console, refresh_per_second=8)
            if self._console.is_terminal and not quiet
            else None
        )
        self._running: dict[str, TaskID] = {}
        self._calls = 0

    def __enter__(self) -> Self:
        if self._live:
            self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            for bar in self._running.values():
                self._bars.remove_task(bar)
            self._live.__exit__(kind, error, trace)

    def paused(self, ask: Callable[[T], bool]) -> Callable[[T], bool]:
        """`ask`, with nothing moving on the terminal while a person reads and answers."""

        def still(about: T) -> bool:
            if self._live:
                self._live.stop()
            try:
                return ask(about)
            finally:
                if self._live:
                    self._live.start()

        return still

    def __call__(self, event: Event, /) -> None:
        match event:
            case PhaseStarted():
                self._begin(_title(event), event.total)
            case PhaseFinished():
                self._end(_title(event), event.detail)
            case TrialFinished():
                self._advance(event)
            case CallFinished():
                self._calls += 1
            case VerdictReached():
                self._say(f"{event.skill}: {_VERDICTS[event.decision]}. {event.explanation}")
            case Warned():
                self._say(f"warning: {event.message}")
            case _:
                pass

    def _begin(self, title: str, total: int | None) -> None:
        if self._live:
            self._running[title] = self._bars.add_task(title, total=total, note="")

    def _end(self, title: str, detail: str) -> None:
        bar = self._running.pop(title, None)
        if bar is not None:
            self._bars.remove_task(bar)
        self._say(f"{title}: {detail}" if detail else title)

    def _advance(self, event: TrialFinished) -> None:
        phase = "replay" if event.arm == "before" else "gate"
        bar = self._running.get(_titled(phase, event.skill))
        if bar is not None:
            self._bars.update(bar, advance=1, note=f"{self._calls} calls")

    def _say(self, line: str) -> None:
        self._console.print(line, soft_wrap=True)


def _title(event: PhaseStarted | PhaseFinished) -> str:
    return _titled(event.phase, event.skill)


def _titled(phase: str, skill: str | None) -> str:
    return f"{skill}: {_PHASES[phase]}" if skill else _PHASES[phase]

from __future__ import annotations

import io

import pytest
from rich.console import Console

from skillopt_sleep.domain.reports import NightReport
from skillopt_sleep.report import night_lines, night_table
from tests.report.builders import better, night, no_gain, result


def shown(report: NightReport, width: int) -> str:
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(night_table(report))
    return out.getvalue()


@pytest.mark.parametrize("width", [80, 120, 200])
def test_the_table_fits_and_keeps_the_words_of_each_verdict(width: int) -> None:
    text = shown(night(), width)

    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    assert {"skill", "verdict", "calls", "cost"} <= set(text.split())
    for name in ("release-notes", "ledger-lookup", "standup-note"):
        assert name in text
    assert text.index("customer-letters") < text.index("release-notes") < text.index("ledger-lookup")


def test_the_table_says_simulated_above_and_in_every_measured_row() -> None:
    text = shown(night(), 140)

    assert text.splitlines()[0].startswith("Simulated: the figures here rest on a simulated model")
    assert text.count("(simulated)") == 2 * 4 - 1  # two figures in four measured rows; one interval is unknown


def test_a_real_night_says_nothing_of_simulation() -> None:
    assert "simulated" not in shown(night(simulated=False), 140).lower()


def test_names_are_never_read_as_markup_or_escape_sequences() -> None:
    report = night(skills=(result("[red]x[/red]", better()), result("\x1b[31mred", no_gain())))
    text = shown(report, 140)

    assert "[red]x[/red]" in text
    assert "\x1b" not in text + "\n".join(night_lines(report))


def test_an_empty_night_is_a_sentence_and_not_an_error() -> None:
    assert "No skill was looked at." in shown(night(skills=()), 80)
    assert night_lines(night(skills=(), warnings=(), simulated=False)) == ["No skill was looked at."]


def test_lines_put_what_got_worse_before_the_summary() -> None:
    lines = night_lines(night())

    assert lines[1].startswith("Worse: customer-letters: gate tasks went from 80 % to 35 %")
    assert lines.index("5 skills: 1 worse, 1 better, 1 cannot tell yet, 1 no gain, 1 not judged.") == 4

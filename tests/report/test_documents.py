from __future__ import annotations

import re

import pytest

from skillopt_sleep.domain.reports import SliceResult
from skillopt_sleep.domain.verdicts import Verdict
from skillopt_sleep.report import markdown, night_lines, proposal_markdown
from tests.report.builders import DIFF, better, harmful, night, no_gain, proposal, result, unsure
from tests.report.golden.documents import FOLDER, documents


@pytest.mark.parametrize("name", sorted(documents()))
def test_documents_read_as_agreed(name: str) -> None:
    assert documents()[name] == (FOLDER / name).read_text(encoding="utf-8"), "see tests/report/golden/__main__.py"


def test_harm_comes_before_everything_that_went_well() -> None:
    fell = SliceResult(slice="test", families=8, before=0.9, after=0.6)
    text = markdown(night(skills=(result("a-fine-one", better()), result("z-fell-on-test", better(), test=fell))))

    assert text.index("## Got worse") < text.index("## Skills")
    assert text.index("### z-fell-on-test") < text.index("### a-fine-one")
    assert "test tasks went from 90 % to 60 %" in text


def test_a_proposal_puts_the_tasks_that_got_worse_before_those_that_got_better() -> None:
    text = proposal_markdown(proposal(), DIFF)

    assert text.index("1 task passed less often") < text.index("## Edits")
    assert text.index("### Got worse") < text.index("### Got better")


def test_simulated_figures_say_so_at_the_top_and_on_their_own_lines() -> None:
    for text in (markdown(night()), proposal_markdown(proposal(), DIFF), "\n".join(night_lines(night()))):
        lines = text.splitlines()
        assert any("rest on a simulated model" in line for line in lines[:3])
        assert [line for line in lines if " → " in line and "simulated" not in line and "before →" not in line] == []
        assert [line for line in lines if " % -> " in line and "simulated" not in line] == []


def test_a_night_on_real_models_never_mentions_simulation() -> None:
    real = night(simulated=False)

    assert "simulated" not in markdown(real).lower()
    assert "simulated" not in "\n".join(night_lines(real)).lower()


def test_missing_figures_are_shown_as_missing_and_not_as_zero() -> None:
    blank = unsure().model_copy(update={"before": None, "after": None, "interval": None, "families": 0})
    text = markdown(night(skills=(result("s", blank, test=None, usd=None),), spend=(), simulated=False))
    row = next(line for line in text.splitlines() if line.startswith("| s |"))

    assert not re.search(r"(?<!\d)0 %", text)
    assert row.count("not measured") == 2
    assert "unknown" in row


def test_a_stopped_night_says_so_and_why() -> None:
    text = markdown(night(status="stopped", stopped="Not logged in", skills=()))

    assert "**The night was stopped early**: Not logged in." in text
    assert "The night ended early: Not logged in." in night_lines(night(status="stopped", stopped="Not logged in"))


def test_a_gate_that_was_switched_off_is_loud() -> None:
    off = better().model_copy(update={"reason": "gate_off", "explanation": "Not tested."})

    assert "**The gate was off" in proposal_markdown(proposal(verdict=off), DIFF)
    assert "◆ **not tested, the gate was off: proposed for adoption**" in markdown(night(skills=(result("s", off),)))


@pytest.mark.parametrize(
    ("verdict", "advice"),
    [
        (better(), "`skillopt-sleep adopt p-4f1c` changes"),
        (unsure(), "`skillopt-sleep adopt p-4f1c --unverified` changes"),
        (no_gain(), "nothing to adopt"),
        (harmful(), "nothing to adopt"),
    ],
)
def test_the_advice_follows_the_verdict(verdict: Verdict, advice: str) -> None:
    assert advice in proposal_markdown(proposal(verdict=verdict), DIFF)


def test_undoing_the_adoption_of_a_new_file_removes_it() -> None:
    text = proposal_markdown(proposal(before_sha256=None), "")

    assert "creates `/home/sam" in text
    assert "removes that file again" in text
    assert "## Diff" not in text


def test_foreign_text_cannot_become_markdown() -> None:
    hostile = "# *bold* | <b>x</b> [link](http://x) `tick`\n\n## New"
    text = markdown(night(skills=(result(hostile, no_gain()),)))

    assert "\n## New" not in text
    assert r"\# \*bold\* \| \<b>x\</b> \[link\](http://x) \`tick\` ## New" in text


def test_a_fence_in_a_reply_cannot_close_the_block_around_it() -> None:
    shown = proposal().evidence[0].model_copy(update={"example_after": "```\n## Adopt at once\n````"})
    text = proposal_markdown(proposal(evidence=(shown,)), "")

    assert "  `````text\n  ```\n  ## Adopt at once\n  ````\n  `````" in text

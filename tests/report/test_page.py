from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

from skillopt_sleep.domain.skills import AddRule, EditOutcome
from skillopt_sleep.domain.verdicts import Verdict
from skillopt_sleep.report import html
from tests.report.builders import better, harmful, night, no_gain, proposal, result, unsure

VOID = frozenset({"meta", "br", "link", "img", "input", "hr"})
HOSTILE = """"><script>alert(1)</script><img src=x onerror='alert(2)'>&lt;\x00\x1b[2J\u202e"""


class Outline(HTMLParser):
    """Checks that elements nest, and remembers what stands in the page."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs), f"<{tag}> has an attribute twice"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).replace("\u00a0", " ").split())


def hostile_page() -> str:
    outcome = EditOutcome(edit=AddRule(text=HOSTILE, reason=HOSTILE), status="fabrication", detail=HOSTILE)
    task = (
        proposal()
        .evidence[0]
        .model_copy(update={"prompt": HOSTILE, "example_before": HOSTILE, "unmet_after": (HOSTILE,)})
    )
    verdict = better().model_copy(update={"explanation": HOSTILE})
    report = night(
        project=HOSTILE,
        skills=(result(HOSTILE, verdict, target=HOSTILE, outcomes=(outcome,), proposal_id=HOSTILE),),
        warnings=(HOSTILE,),
        status="stopped",
        stopped=HOSTILE,
    )
    return html(report, [proposal(id=HOSTILE, skill=HOSTILE, evidence=(task,))])


@pytest.mark.parametrize(
    "page",
    [
        html(night(), [proposal()]),
        html(night(simulated=False)),
        html(night(skills=(), spend=(), warnings=())),
        hostile_page(),
    ],
    ids=["full", "real", "empty", "hostile"],
)
def test_the_page_is_well_formed_self_contained_and_without_scripts(page: str) -> None:
    outline = Outline(page)

    assert outline.open == []
    assert {tag for tag, _ in outline.tags}.isdisjoint({"script", "link", "img", "iframe", "object", "base", "form"})
    for _, attributes in outline.tags:
        assert not any(name.startswith("on") or name in ("src", "srcset", "action") for name in attributes)
        assert (attributes.get("href") or "#").startswith("#")
    assert "url(" not in page
    assert "@import" not in page


def test_hostile_text_is_shown_as_text() -> None:
    page = hostile_page()

    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", page)


def test_a_simulated_page_says_so_in_its_title_above_and_beside_the_figures() -> None:
    page = html(night(), [proposal()])
    text = Outline(page).text

    assert "(simulated)</title>" in page
    assert text.index("rest on a simulated model") < text.index("customer-letters")
    assert "80 % → 35 % simulated" in text
    assert "4 % → 96 % simulated" in text
    assert "gain: +79 to +100 points (90 % interval) simulated" in text


def test_a_real_page_never_mentions_simulation() -> None:
    assert "simulated" not in Outline(html(night(simulated=False))).text.lower()


def test_what_got_worse_stands_first() -> None:
    text = Outline(html(night(), [proposal()])).text

    assert text.index("Got worse under the proposed edits") < text.index("Skills")
    assert text.index("worse: refused") < text.index("better: proposed for adoption")
    assert text.index("▼ Got worse") < text.index("▲ Got better")


def test_each_verdict_has_its_own_shape_and_words() -> None:
    page = html(night())
    shapes = re.findall(r'<div class="verdict"><svg[^>]*><use href="#(\w+)"/></svg> ([^<]+)</div>', page)

    assert shapes == [
        ("worse", "worse: refused"),
        ("better", "better: proposed for adoption"),
        ("unsure", "cannot tell yet: about 2 more tasks needed"),
        ("no_gain", "no gain: refused"),
        ("unjudged", "not judged: It has no tasks to train on"),
    ]
    assert {f'<symbol id="{shape}"' in page for shape, _ in shapes} == {True}


def test_bars_describe_themselves_to_those_who_cannot_see_them() -> None:
    labels = [attributes["aria-label"] for tag, attributes in Outline(html(night())).tags if "aria-label" in attributes]

    assert "Gate: 20 tasks, which decided: 3 % → 93 %, gain +82 to +98 points" in labels


def test_an_interval_is_drawn_around_the_change_and_stays_on_the_scale() -> None:
    page = html(night(skills=(result("s", better().model_copy(update={"interval": (0.5, 1.4)})),)))

    # 0.03 + 0.5 and the end of the scale, of which 94 % of the width are used and 3 % are margin
    assert 'class="band" x="52.82%" width="44.18%"' in page


def test_missing_figures_have_no_bar_and_are_called_unknown() -> None:
    blank = unsure(None).model_copy(update={"before": None, "after": None})
    page = html(night(skills=(result("s", blank),), spend=()))

    assert '<circle class="from"' not in page
    assert '<circle class="from"' in html(night())
    assert "unknown" in Outline(page).text
    assert "not measured" in Outline(page).text
    assert not re.search(r"(?<!\d)0 %", Outline(page).text)


@pytest.mark.parametrize(
    ("verdict", "command"),
    [
        (better(), "skillopt-sleep adopt p-1 Undo"),
        (unsure(), "skillopt-sleep adopt p-1 --unverified (nothing has shown that it helps)"),
    ],
)
def test_the_page_gives_the_commands_that_fit_the_verdict(verdict: Verdict, command: str) -> None:
    assert command in Outline(html(night(skills=(result("s", verdict, proposal_id="p-1"),)))).text


@pytest.mark.parametrize("verdict", [no_gain(), harmful()])
def test_a_refused_proposal_cannot_be_adopted_from_the_page(verdict: Verdict) -> None:
    page = html(night(skills=(result("s", verdict, proposal_id="p-1"),)))

    assert "skillopt-sleep adopt" not in Outline(page).text


def test_proposals_of_other_nights_are_left_out() -> None:
    assert "gift-wrap" not in html(night(), [proposal(id="p-other")])


def test_importing_the_renderers_loads_neither_jinja2_nor_rich() -> None:
    code = "import sys, skillopt_sleep.report; print(sorted({'jinja2', 'rich', 'yaml'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"

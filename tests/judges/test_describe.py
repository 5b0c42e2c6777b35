"""Checks in words. The judge itself is the referee: an example that is offered must pass the check it is for."""

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.domain.checks import Check, Regex, parse_check
from skillopt_sleep.domain.describe import describe, leaks
from skillopt_sleep.domain.patterns import is_literal
from skillopt_sleep.domain.trials import Attempt
from skillopt_sleep.judges.rules import holds


def _check(op: str, arg: object = None) -> Check:
    return parse_check({"op": op, "arg": arg}, where="test")


@pytest.mark.parametrize(
    ("op", "arg", "text", "example"),
    [
        ("contains", "Regards", 'Include the text "Regards".', "Regards"),
        ("contains", 'say "hi"', 'Include the text `say "hi"`.', 'say "hi"'),
        ("not_contains", "very", 'Do not include the text "very".', None),
        ("max_chars", 1200, "Keep the reply at or under 1200 characters.", None),
        ("min_chars", 1, "Make the reply at least 1 character long.", None),
        ("max_words", 30, "Keep the reply at or under 30 words.", None),
        ("min_words", 5, "Make the reply at least 5 words long.", None),
        ("starts_with", "TL;DR:", 'Begin the reply with "TL;DR:".', "TL;DR:"),
        ("ends_with", "Bye.", 'End the reply with "Bye.".', "Bye."),
        ("heading", "Key Risks", 'Include a section headed "Key Risks".', "## Key Risks"),
        ("section_present", "Key Risks", 'Include a section headed "Key Risks".', "## Key Risks"),
        ("section_contains", "Key Risks", 'Include a section headed "Key Risks".', "## Key Risks"),
        ("tool_called", "search", "Call the `search` tool before answering.", None),
        ("no_refusal", None, "Answer the request itself instead of refusing it.", None),
        ("json_valid", None, "Reply with valid JSON and nothing else.", '{"answer": "..."}'),
        (
            "json_schema",
            {"required": ["id", "n"], "properties": {"id": {"type": "string", "pattern": "^X-[0-9]$"}, "n": {}}},
            'Reply with valid JSON and nothing else: an object with "id" (string) and "n".',
            '{"id": "X-1", "n": "..."}',
        ),
    ],
)
def test_a_check_is_said_as_an_instruction(op: str, arg: object, text: str, example: str | None) -> None:
    requirement = describe(_check(op, arg))
    assert (requirement.text, requirement.example) == (text, example)
    assert (requirement.failed, requirement.seen, requirement.families) == (0, 0, 0)


@pytest.mark.parametrize(
    ("pattern", "text", "example"),
    [
        (r"[Cc]onfidence\s*[:=]", 'Include text of the form "Confidence:".', "Confidence: ..."),
        (
            r"^REF-[0-9]{3}$",
            'Give the whole reply the form "REF-123", with nothing before or after it.',
            "REF-123",
        ),
        (r"(?m)^REF-[0-9]{3}$", 'Include a line of the form "REF-123".', "REF-123"),
        (r"(?m)^- \w+", 'Include a line that begins with text of the form "- word".', "- word"),
        (r"\d{4}-\d{2}", 'Include text of the form "1234-56".', "1234-56"),
        (
            r"Verdict:\s*(GO|NO-GO|WAIT)",
            'Include text of the form "Verdict: GO", "Verdict: NO-GO" or "Verdict: WAIT".',
            "Verdict: GO",
        ),
        (r"^TL;DR", 'Begin the reply with "TL;DR".', "TL;DR"),
        (r"Regards$", 'End the reply with "Regards".', "Regards"),
        (r"Summary", 'Include the text "Summary".', "Summary"),
        (r"Total.*EUR", 'Include text of the form "Total...EUR".', "Total...EUR"),
        (r"(\w+) and \1", 'Include text of the form "word and word".', "word and word"),
        (r"[^\W\d_]{2,}@x", 'Include text of the form "word@x".', "word@x"),
    ],
)
def test_a_pattern_is_put_into_a_made_up_example(pattern: str, text: str, example: str) -> None:
    requirement = describe(Regex(arg=pattern))
    assert (requirement.text, requirement.example) == (text, example)


@pytest.mark.parametrize(
    "pattern",
    [r"^(?!.*sorry)", r"[\s\S]*", r"\s*", r"$", r"(?<!a)b", r"(a)?(?(1)b|c)", "a{500}", r"[^\x00-\uffff]", r"(?=a)b"],
)
def test_a_pattern_that_has_no_honest_example_gets_a_general_sentence(pattern: str) -> None:
    requirement = describe(Regex(arg=pattern))
    assert requirement.example is None
    assert requirement.text == "Use the fixed wording or layout that this kind of reply calls for."


_ATOMS = st.sampled_from(
    ["Risk", "a", "-", r"\d", r"\w", r"\s", ".", "[A-F]", "[^x]", r"\.", "[:=]", "[Yy]es", "(GO|WAIT)", "(?:ab)", r"\b"]
)
_SUFFIXES = st.sampled_from(["", "", "", "?", "*", "+", "{2}", "{1,3}", "+?"])
_PIECES = st.tuples(_ATOMS, _SUFFIXES).map(lambda parts: parts[0] + ("" if parts[0] == r"\b" else parts[1]))
_PATTERNS = st.tuples(
    st.sampled_from(["", "", "^", "(?i)", "(?m)^"]),
    st.lists(_PIECES, min_size=1, max_size=6).map("".join),
    st.sampled_from(["", "", "$"]),
).map("".join)


@settings(max_examples=250, deadline=None)
@given(_PATTERNS)
def test_an_example_passes_its_check_and_the_pattern_stays_with_the_judge(pattern: str) -> None:
    check = Regex(arg=pattern)
    requirement = describe(check)
    shown = f"{requirement.text}\n{requirement.example}"
    assert not leaks(check, shown)
    if not is_literal(pattern) and re.search(r"[\\\[(*+{^$]", pattern):
        assert pattern not in shown
    if requirement.example is not None:
        assert holds(check, Attempt(task_id="t", text=requirement.example))


_NAMES = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["contains", "starts_with", "ends_with", "section_present", "section_contains"]), _NAMES)
def test_an_example_for_a_given_text_passes_too(op: str, arg: str) -> None:
    check = _check(op, arg)
    example = describe(check).example
    assert example is not None
    assert holds(check, Attempt(task_id="t", text=f"{example}\n" if op != "ends_with" else f"Well. {example}"))


@pytest.mark.parametrize(
    "text",
    [
        "Match ^REF-[0-9]{3}$ in every reply.",
        "Match `REF-[0-9]{3}`.",
        "Match ^ REF - [0-9]\n{3} $ please",
        "match ref-[0-9]{3}",
    ],
)
def test_an_edit_that_repeats_the_pattern_leaks_it(text: str) -> None:
    assert leaks(Regex(arg=r"^REF-[0-9]{3}$"), text)


def test_backslashes_doubled_on_the_way_through_json_do_not_hide_a_leak() -> None:
    check = Regex(arg=r"[Cc]onfidence\s*[:=]")
    assert leaks(check, json.dumps({"text": f"Use {check.arg}"}))


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"^REF-[0-9]{3}$", "Answer with a reference such as REF-123."),
        ("Summary", "Begin with Summary."),
        (r"^TL;DR", "Begin with TL;DR and go on."),
        ("Done.", "End with Done."),
        (".", "Any sentence."),
        (r"^.$", "Any sentence."),
        ("e*f", "Write 2e*f3 as it is."),
    ],
)
def test_ordinary_words_are_no_leak(pattern: str, text: str) -> None:
    assert not leaks(Regex(arg=pattern), text)


def test_only_patterns_can_leak() -> None:
    assert not leaks(_check("contains", "[Cc]onfidence"), "Use [Cc]onfidence.")


@pytest.mark.data
def test_every_check_of_the_published_benchmarks_has_words() -> None:
    root = os.environ.get("SKILLOPT_SLEEP_TEST_DATA")
    if not root:
        pytest.skip("SKILLOPT_SLEEP_TEST_DATA is not set")
    lines = [
        line for path in Path(root).glob("gbrain-evals/**/*.jsonl") for line in path.read_text("utf-8").splitlines()
    ]
    checks = {json.dumps(check) for line in lines for check in json.loads(line)["judge"]["checks"]}
    assert checks
    for raw in checks:
        check = parse_check(json.loads(raw), where="data")
        requirement = describe(check)
        assert not leaks(check, requirement.text)
        assert "fixed wording" not in requirement.text

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skillopt_sleep.backend.sim
from skillopt_sleep.backend.sim import SimModel, Strength
from skillopt_sleep.domain.errors import ModelMalformed
from skillopt_sleep.domain.llm import AssistantMessage, Prompt, ToolCall, ToolMessage, UserMessage
from tests.backend.sim_talk import LOOKUP, has_heading, replies, share, skill

STRENGTHS: tuple[Strength, ...] = ("weak", "mid", "strong")
SCOPE = 'Include a section headed "Scope".'
has_scope = has_heading("Scope")


def is_object(*keys: str) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            return sorted(json.loads(text)) == sorted(keys)
        except ValueError:
            return False

    return check


@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        (SCOPE, has_scope),
        ("Add a section called Scope to each reply.", has_scope),
        ("Always add ## Scope.", has_scope),
        ("Do not forget to include a **Scope** section.", has_scope),
        ("Never finish without a section titled 'Scope'.", has_scope),
        ('Include text of the form "Owner:" or "owner:". For example: `Owner: ...`', lambda t: "Owner: " in t),
        ("End each reply with a line `Owner: <me|you>`.", lambda t: t.endswith("Owner: me")),
        ("Say who owns it, e.g. `Owner: Ada`.", lambda t: "\nOwner: Ada" in t),
        ('Begin the reply with "In short:".', lambda t: t.startswith("In short:")),
        ('Start with "Hi." and end with "Bye."', lambda t: t.startswith("Hi.") and t.endswith("Bye.")),
        ('The reply must contain the word "banana".', lambda t: "banana" in t),
        ("Keep the reply at or under 300 characters.", lambda t: len(t) <= 300),
        ("Do not exceed 1,000 characters.", lambda t: len(t) <= 1000),
        ("Never write more than 60 words.", lambda t: len(t.split()) <= 60),
        ("Make the reply at least 600 words long.", lambda t: len(t.split()) >= 600),
        ("Write between 100 and 140 words.", lambda t: 100 <= len(t.split()) <= 140),
        ('Answer as JSON with the keys "who" and "when".', is_object("who", "when")),
        ('Reply with valid JSON and nothing else. For example: `{"n": 1}`', is_object("n")),
        ('Make the whole reply "OK", with nothing before or after it.', lambda t: t == "OK"),
        ("Use bullet points.", lambda t: t.count("\n- ") >= 2),
        ("Include a table.", lambda t: "|---|" in t),
        (
            'Keep it under 500 characters, and include a section headed "Scope".',
            lambda t: len(t) < 500 and has_scope(t),
        ),
    ],
)
def test_a_strong_model_does_what_a_concrete_rule_says_and_nothing_without_it(
    rule: str, holds: Callable[[str], bool]
) -> None:
    assert share("strong", skill(rule), holds, count=120) > 0.8
    assert share("strong", skill(), holds, count=60) < 0.05


def test_a_forbidden_text_is_left_out_even_of_the_topic() -> None:
    assert share("strong", skill(), lambda t: "topic" in t, count=60) > 0.9
    assert share("strong", skill('Do not include the text "topic".'), lambda t: "topic" in t, count=120) < 0.15


@pytest.mark.parametrize(
    ("strength", "low", "high"), [("weak", 0.25, 0.40), ("mid", 0.65, 0.80), ("strong", 0.93, 0.98)]
)
def test_one_concrete_rule_is_obeyed_as_often_as_the_strength_promises(
    strength: Strength, low: float, high: float
) -> None:
    assert low - 0.02 <= share(strength, skill(SCOPE), has_scope, count=1000) <= high + 0.01


@pytest.mark.parametrize("strength", STRENGTHS)
def test_how_a_rule_is_put_decides_how_often_it_is_obeyed(strength: Strength) -> None:
    plain = share(strength, skill(SCOPE), has_scope, count=400)
    shown = share(strength, skill(f"{SCOPE} For example: `## Scope`"), has_scope, count=400)
    vague = share(strength, skill("Include a section about scope."), has_scope, count=400)
    others = [f'Include text of the form "Label{n}:".' for n in range(11)]
    crowded = share(strength, skill(*others, SCOPE), has_scope, count=400)
    torn = share(strength, skill('Never include a section called "Scope".', SCOPE), has_scope, count=400)
    assert vague < torn + 0.05
    assert max(vague, crowded, torn) + 0.03 < plain < shown


def test_negation_turns_a_rule_round() -> None:
    skill_that_wants_it = skill(SCOPE, 'Never include a section headed "Scope".')
    assert share("strong", skill_that_wants_it, has_scope, count=300) < 0.6


def test_nonsense_is_ignored() -> None:
    nonsense = "Let each scope of the reply follow the colour of its question."
    assert share("mid", skill(nonsense), has_scope, count=100) == 0.0


def test_a_limit_is_torn_by_a_skill_that_asks_for_everything() -> None:
    def brief(text: str) -> bool:
        return len(text) <= 1200

    greedy = "Explore every angle, be exhaustive and detailed. Write multiple paragraphs."
    assert share("strong", skill(greedy), brief) < 0.05
    torn = share("strong", skill(greedy, "Keep the reply under 1200 characters."), brief, count=400)
    free = share("strong", skill("Keep the reply under 1200 characters."), brief, count=400)
    assert 0.75 < torn < free


def test_front_matter_comments_and_headings_are_no_instructions() -> None:
    front = '---\nname: x\ndescription: Include a section headed "Scope".\n---\n'
    text = f"{front}\n# Scope\n\n<!-- Add ## Scope. -->\nHelp.\n"
    assert share("strong", text, has_scope, count=60) == 0.0


def test_a_declared_tool_is_really_called_and_its_result_used() -> None:
    async def main() -> None:
        model = SimModel("strong")
        system = "Call the `lookup` tool before answering."
        asked = UserMessage(text="What is known about tides?")
        first = await model.generate(Prompt(role="target", system=system, messages=(asked,), tools=(LOOKUP,)))
        assert (first.stop, first.text) == ("tool_use", "")
        call = first.tool_calls[0]
        assert (call.name, call.arguments) == ("lookup", {"query": "tides"})
        turn = AssistantMessage(text="", tool_calls=(call,))
        result = ToolMessage(call_id=call.id, text="Tides follow the moon.")
        second = await model.generate(
            Prompt(role="target", system=system, messages=(asked, turn, result), tools=(LOOKUP,))
        )
        assert second.stop == "end"
        assert "Tides follow the moon." in second.text

    anyio.run(main)


@pytest.mark.parametrize(
    "rule", ["Call the `lookup` tool.", "Use the lookup tool.", "Look things up before you answer."]
)
def test_no_tool_is_called_that_is_not_declared(rule: str) -> None:
    assert not any(reply.tool_calls for reply in replies("strong", skill(rule), count=40))
    assert sum(bool(reply.tool_calls) for reply in replies("strong", skill(rule), count=80, tools=(LOOKUP,))) > 40


def test_never_using_tools_tears_the_rule_to_call_one() -> None:
    def called(*rules: str) -> float:
        found = replies("mid", skill(*rules), count=300, tools=(LOOKUP,))
        return sum(bool(reply.tool_calls) for reply in found) / len(found)

    rule = "Call the `lookup` tool before answering."
    free, torn = called(rule), called("Do NOT look anything up or use any tools — just reply from memory.", rule)
    assert called("Never call the `lookup` tool.") == 0.0
    assert 0.2 < torn < free - 0.1


def test_requests_differ_in_difficulty() -> None:
    found = replies("mid", skill(SCOPE), count=400)
    by_request = [sum(has_scope(reply.text) for reply in found[n::40]) for n in range(40)]
    assert max(by_request) - min(by_request) >= 5  # of 10 samples each


def test_a_reply_depends_on_seed_strength_prompt_and_sample_alone() -> None:
    prompt = Prompt(role="target", system=skill(SCOPE), messages=(UserMessage(text="Write about tea."),))

    def said(model: SimModel, prompt: Prompt) -> str:
        return anyio.run(model.generate, prompt).text

    assert said(SimModel("mid"), prompt) == said(SimModel("mid"), prompt)
    assert said(SimModel("mid"), prompt) != said(SimModel("mid", seed=1), prompt)
    assert said(SimModel("mid"), prompt) != said(SimModel("mid"), prompt.model_copy(update={"sample": 1}))
    assert said(SimModel("mid"), prompt) != said(SimModel("mid"), prompt.model_copy(update={"max_tokens": 2000}))


def test_a_reply_ends_where_its_tokens_end() -> None:
    prompt = Prompt(role="target", system="", messages=(UserMessage(text="Write about tea."),), max_tokens=20)
    reply = anyio.run(SimModel("strong").generate, prompt)
    assert (reply.stop, len(reply.text), reply.usage.output_tokens) == ("max_tokens", 80, 20)


def test_it_does_not_pretend_to_judge() -> None:
    prompt = Prompt(role="judge", system="Grade this.", messages=(UserMessage(text="A reply."),))
    with pytest.raises(ModelMalformed, match="not supported"):
        anyio.run(SimModel("strong").generate, prompt)


@pytest.mark.parametrize(
    "text",
    ["", "- ", "```\nunclosed", '"', 'Include "".', "**", "⟦9⟧ include ⟦0⟧", "Write 0 words.", "##", "Never never."],
)
def test_odd_instructions_never_break_it(text: str) -> None:
    assert all(reply.text or reply.tool_calls for reply in replies("strong", text, count=3))


PIECES = st.sampled_from(
    ("never", "include", "a section called", '"X"', "Y", "`z`", "**", "## ", "```", "~~~", "- ", "1. ", "e.g.", "\n")
)
MORE_PIECES = st.sampled_from((": ", ". ", ",", ";", " — ", "JSON", "<b>", '{"a": 1}', "the tool", "under 10 words"))


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.text(max_size=300), st.lists(PIECES | MORE_PIECES, max_size=60).map(" ".join)))
def test_no_text_whatever_breaks_it(text: str) -> None:
    prompt = Prompt(role="target", system=text, messages=(UserMessage(text=text),), tools=(LOOKUP,))
    reply = anyio.run(SimModel("strong").generate, prompt)
    assert reply.text or reply.tool_calls


def string_constants() -> list[str]:
    """Every string in the source of the simulated model that is not documentation."""
    folder = Path(skillopt_sleep.backend.sim.__file__).parent
    found: list[str] = []
    for path in folder.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documentation = {
            id(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        found += [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation
        ]
    return found


def quoted_names(text: str) -> set[str]:
    """What quotations of a data set or test name: two words or more, or one capitalised word."""
    quoted = re.findall(r"[\"'`]([A-Z][a-z]+(?: [A-Za-z]+)*:?)[\"'`]", text)
    return {name.rstrip(":") for name in quoted if len(name) > 3}


def test_it_holds_no_string_of_any_data_set_or_test() -> None:
    constants = "\n".join(string_constants())
    tests = Path(__file__).parent
    names = {name for path in tests.glob("test_sim*.py") for name in quoted_names(path.read_text(encoding="utf-8"))}
    data = os.environ.get("SKILLOPT_SLEEP_TEST_DATA")
    for path in Path(data).rglob("*.jsonl") if data else ():
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line) if line.strip().startswith("{") else {}
            judge = row.get("judge") if isinstance(row, dict) else None
            for check in judge.get("checks", []) if isinstance(judge, dict) else []:
                names |= set(re.findall(r"[A-Za-z]{5,}", str(check.get("arg"))))
    assert len(names) > 3
    assert not {name for name in names if re.search(rf"\b{re.escape(name)}\b", constants)}


def test_a_call_of_a_tool_in_the_history_is_not_repeated() -> None:
    call = ToolCall(id="c1", name="lookup", arguments={"query": "x"})
    messages = (
        UserMessage(text="What is known about tides?"),
        AssistantMessage(text="", tool_calls=(call,)),
        ToolMessage(call_id="c1", text=""),
    )
    prompt = Prompt(role="target", system="Always call the `lookup` tool.", messages=messages, tools=(LOOKUP,))
    assert anyio.run(SimModel("strong").generate, prompt).tool_calls == ()

import pytest

from skillopt_sleep.agents.notes import NO_MATCH, search
from skillopt_sleep.agents.single_turn import SingleTurn
from skillopt_sleep.agents.tool_loop import ToolLoop
from skillopt_sleep.domain.errors import ModelMalformed
from skillopt_sleep.domain.llm import Reply, ToolCall, ToolMessage
from skillopt_sleep.domain.tasks import Tool
from tests.agents.fakes import ListedModel, calls, says
from tests.conformance.agent import TASK, check_agent

pytestmark = pytest.mark.anyio

NOTES = {"Otters": "Otters hold hands while they sleep.", "Badgers": "Badgers dig setts and sleep by day."}
WITH_SEARCH = TASK.model_copy(
    update={"tools": (Tool(name="search", description="Look through the notes.", notes=NOTES),)}
)


async def test_the_single_turn_agent_keeps_the_contract() -> None:
    await check_agent(SingleTurn)


async def test_the_tool_loop_keeps_the_contract() -> None:
    await check_agent(ToolLoop)


async def test_the_memory_stands_in_the_prompt_only_where_there_is_one() -> None:
    model = ListedModel([says("ok")])
    await SingleTurn(model, "Prefers metric units.").attempt(TASK, "skill", sample=0)
    await SingleTurn(model).attempt(TASK, "skill", sample=0)
    assert "Prefers metric units." in model.prompts[0].system
    assert "memory" not in model.prompts[1].system


def _results(model: ListedModel) -> list[str]:
    return [message.text for message in model.prompts[-1].messages if isinstance(message, ToolMessage)]


async def _attempt(model: ListedModel, *, max_rounds: int = 6) -> tuple[str, list[str], int]:
    attempt = await ToolLoop(model, max_rounds=max_rounds).attempt(WITH_SEARCH, "", sample=0)
    return attempt.text, [call.name for call in attempt.tool_calls], attempt.calls


async def test_a_called_tool_is_run_and_its_result_reaches_the_model() -> None:
    model = ListedModel([calls("search", query="otters"), says("They hold hands.")])
    assert await _attempt(model) == ("They hold hands.", ["search"], 2)
    assert model.prompts[0].tools[0].parameters["required"] == ["query"]
    assert "Otters hold hands while they sleep." in _results(model)[0]


async def test_usage_and_sample_run_through_all_rounds() -> None:
    model = ListedModel([calls("search", query="otters"), says("They hold hands.")])
    attempt = await ToolLoop(model).attempt(WITH_SEARCH, "", sample=2)
    assert attempt.usage.total == 22
    assert [prompt.sample for prompt in model.prompts] == [2, 2]


async def test_an_unknown_tool_gets_an_error_and_does_not_count() -> None:
    model = ListedModel([calls("pytest", query="all"), says("All tests passed.")])
    assert await _attempt(model) == ("All tests passed.", [], 2)
    assert _results(model) == ["Error: there is no tool called 'pytest'. Tools: search."]


@pytest.mark.parametrize(
    "arguments", [{}, {"q": "otters"}, {"query": 7}, {"query": ["otters"]}, {"query": "a", "n": 1}]
)
async def test_wrong_arguments_get_an_error_and_do_not_count(arguments: dict[str, object]) -> None:
    model = ListedModel([calls("search", **arguments), says("Done.")])
    assert await _attempt(model) == ("Done.", [], 2)
    assert _results(model) == ["Error: search takes exactly one argument, the string 'query'."]


async def test_every_call_of_one_reply_gets_its_own_result() -> None:
    both = (
        ToolCall(id="a", name="search", arguments={"query": "otters"}),
        ToolCall(id="b", name="browse", arguments={"query": "otters"}),
    )
    model = ListedModel([Reply(text="One moment.", model="m", tool_calls=both, stop="tool_use"), says("Done.")])
    assert await _attempt(model) == ("Done.", ["search"], 2)
    answered = [message.call_id for message in model.prompts[-1].messages if isinstance(message, ToolMessage)]
    assert answered == ["a", "b"]


async def test_a_model_that_never_stops_calling_ends_with_its_last_text() -> None:
    wordy = calls("search", query="otters").model_copy(update={"text": "Still looking."})
    model = ListedModel([wordy, calls("search", query="otters")])
    assert await _attempt(model, max_rounds=3) == ("Still looking.", ["search"] * 3, 3)


async def test_an_empty_last_reply_is_malformed_though_tools_were_run() -> None:
    with pytest.raises(ModelMalformed):
        await _attempt(ListedModel([calls("search", query="otters"), says("")]))


def test_the_note_with_the_rarer_word_comes_first() -> None:
    assert search(NOTES, "Do badgers sleep?").startswith("## Badgers")
    assert search(NOTES, "where do otters sleep").startswith("## Otters")


def test_a_search_without_a_match_says_so() -> None:
    assert search(NOTES, "quarterly revenue") == NO_MATCH
    assert search(NOTES, "") == NO_MATCH
    assert search({}, "otters") == NO_MATCH


def test_notes_without_spaces_between_words_are_found() -> None:
    assert search({"动物": "水獭睡觉时牵手。", "b": "獾挖洞。"}, "水獭").startswith("## 动物")

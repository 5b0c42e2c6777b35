import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.domain.checks import OPERATORS, Check, ToolCalled, parse_check
from skillopt_sleep.domain.llm import ToolCall
from skillopt_sleep.domain.tasks import Criterion, Exact, Rubric, Rules, Task
from skillopt_sleep.domain.trials import Attempt, Score
from skillopt_sleep.judges import ExactJudge, JudgeByCriterion, RulesJudge
from skillopt_sleep.judges.rules import holds
from tests.conformance.judge import check_judge

pytestmark = pytest.mark.anyio


def _check(op: str, arg: object = None) -> Check:
    return parse_check({"op": op, "arg": arg}, where="test")


def _task(criterion: Criterion) -> Task:
    return Task(id="t", prompt="p", criterion=criterion, group="g", family="f", slice="train", origin="file")


def _rules(*checks: Check) -> Task:
    return _task(Rules(checks=checks))


def _holds(op: str, arg: object, text: str) -> bool:
    return holds(_check(op, arg), Attempt(task_id="t", text=text))


SCHEMA = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}

HELD_AND_FAILED: list[tuple[str, object, str, str]] = [
    ("contains", "Key RISKS", "the key risks are", "the risks are"),
    ("contains", "STRASSE", "in der Straße", "in der Gasse"),
    ("contains", "İstanbul", "i̇stanbul", "istanbul"),
    ("not_contains", "TODO", "all done", "a todo is left"),
    ("regex", r"[Cc]onfidence\s*[:=]", "x\nConfidence : high", "CONFIDENCE: high"),
    ("regex", r"^REF-[0-9]{3}$", "REF-123", "see\nREF-123\n."),
    ("regex", r"x{e}", "x{e}", "y"),
    ("max_chars", 3, "äöü", "äöüx"),
    ("min_chars", 3, "äöü", "äö"),
    ("max_words", 2, "- two words", "now three words"),
    ("min_words", 3, "我们 don't", "two -- words"),
    ("starts_with", "TL;DR:", "\n  TL;DR: short", "tl;dr: short"),
    ("ends_with", "Bye.", "Hello. Bye.\n", "Bye. Hello."),
    ("heading", "key  risks", "Intro\n\n## Key Risks", "Key Risks: none"),
    ("section_present", "Key Risks", "## Our key risks", "## Key Risks of it"),
    ("section_present", "Key Risks", "**1. Key Risks**:", "The **Key Risks** are"),
    ("section_present", "Key Risks", "key risks: none", "- key risks: none"),
    ("section_contains", "Risks", "### Key Risks of it", "**Risks**"),
    ("no_refusal", None, "Otters hold hands.", "I can't help with that."),
    ("json_valid", None, '```json\n{"a": 1}\n```', 'Here: {"a": 1}'),
    ("json_schema", SCHEMA, '{"n": 1}', '{"n": "1"}'),
]


@pytest.mark.parametrize(("op", "arg", "held", "failed"), HELD_AND_FAILED)
def test_an_operator_tells_a_reply_that_meets_it_from_one_that_does_not(
    op: str, arg: object, held: str, failed: str
) -> None:
    assert _holds(op, arg, held)
    assert not _holds(op, arg, failed)


def test_every_operator_can_be_evaluated() -> None:
    assert {op for op, *_ in HELD_AND_FAILED} | {"tool_called"} == set(OPERATORS)


def test_a_tool_counts_only_when_it_was_really_run() -> None:
    check = ToolCalled(arg="search")
    said = Attempt(task_id="t", text="I called search(query='x') and found nothing.")
    ran = Attempt(task_id="t", text="Found it.", tool_calls=(ToolCall(id="1", name="search"),))
    assert not holds(check, said)
    assert holds(check, ran)
    assert not holds(ToolCalled(arg="browse"), ran)


async def test_all_checks_decide_the_hard_score_and_their_share_is_the_soft_one() -> None:
    task = _rules(_check("contains", "a"), _check("contains", "b"), _check("max_chars", 1), _check("min_chars", 1))
    score = await RulesJudge().score(task, Attempt(task_id="t", text="a"))
    assert score.mark is not None
    assert (score.mark.hard, score.mark.soft) == (0.0, 0.75)
    assert [(result.requirement, result.passed) for result in score.checks] == [
        ('Include the text "a".', True),
        ('Include the text "b".', False),
        ("Keep the reply at or under 1 character.", True),
        ("Make the reply at least 1 character long.", True),
    ]


async def test_every_judge_keeps_the_contract() -> None:
    rules = _rules(_check("contains", "a"), _check("regex", "b+"))
    exact = _task(Exact(answer="42\n"))
    await check_judge(RulesJudge(), rules, passing="a b", failing="c")
    await check_judge(ExactJudge(), exact, passing=" 42", failing="It is 42.")
    await check_judge(JudgeByCriterion(), rules, passing="a b", failing="c")
    await check_judge(JudgeByCriterion(), exact, passing="42", failing="43")


async def test_a_runaway_pattern_is_an_abstention_and_never_a_zero() -> None:
    task = _rules(_check("contains", "b"), _check("regex", r"(a+)+$"))
    attempt = Attempt(task_id="t", text="a" * 50_000 + "b")
    with anyio.fail_after(10):
        score = await RulesJudge(pattern_seconds=0.1).score(task, attempt)
    assert score.mark is None
    assert score.abstained == "a pattern took longer than 0.1 s on this reply"


async def test_the_event_loop_runs_on_while_a_pattern_is_searched() -> None:
    task = _rules(_check("regex", r"(a+)+$"))
    scores: list[Score] = []

    async def judge() -> None:
        scores.append(await RulesJudge(pattern_seconds=0.2).score(task, Attempt(task_id="t", text="a" * 9_999 + "b")))

    turns = 0
    async with anyio.create_task_group() as group:
        group.start_soon(judge)
        while not scores:
            turns += 1
            await anyio.lowlevel.checkpoint()
    assert turns > 10


async def test_a_runaway_pattern_inside_a_schema_is_an_abstention_too() -> None:
    task = _rules(_check("json_schema", {"type": "string", "pattern": r"(a+)+$"}))
    score = await RulesJudge(pattern_seconds=0.1).score(task, Attempt(task_id="t", text='"' + "a" * 50_000 + 'b"'))
    assert score.abstained == "a pattern of the JSON Schema took longer than 0.1 s on this reply"


async def test_a_schema_that_points_elsewhere_is_an_abstention_and_fetches_nothing() -> None:
    task = _rules(_check("json_schema", {"$ref": "http://127.0.0.1:9/schema.json"}))
    score = await RulesJudge().score(task, Attempt(task_id="t", text="{}"))
    assert score.abstained == "the JSON Schema refers to something that is not in it"


async def test_a_rubric_needs_a_grader_and_goes_to_it_where_there_is_one() -> None:
    task, attempt = _task(Rubric(text="Is kind.")), Attempt(task_id="t", text="Hello")
    assert (await JudgeByCriterion().score(task, attempt)).abstained == "needs a grader model"
    stand_in = RulesJudge()
    judge = JudgeByCriterion(grader=stand_in)
    assert (await judge.score(task, attempt)).judge == stand_in.version
    assert judge.version == "rules@1+exact@1+rules@1"


async def test_a_judge_abstains_from_criteria_of_another_kind() -> None:
    attempt = Attempt(task_id="t", text="Hello")
    assert (await RulesJudge().score(_task(Exact(answer="x")), attempt)).mark is None
    assert (await ExactJudge().score(_task(Rubric(text="x")), attempt)).mark is None


async def test_a_task_that_cannot_be_judged_offline_is_not_scored() -> None:
    task = _rules(_check("contains", "passed")).model_copy(update={"not_evaluable": "needs a repository"})
    score = await JudgeByCriterion().score(task, Attempt(task_id="t", text="All tests passed."))
    assert (score.mark, score.abstained) == (None, "not evaluable offline: needs a repository")


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60), st.sampled_from([op for op, *_ in HELD_AND_FAILED]))
def test_no_text_breaks_an_operator(text: str, op: str) -> None:
    arg = next(arg for name, arg, *_ in HELD_AND_FAILED if name == op)
    assert _holds(op, arg, text) in (True, False)

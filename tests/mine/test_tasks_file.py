from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillopt_sleep.domain.checks import OPERATORS, Contains, parse_check
from skillopt_sleep.domain.errors import InputError, UnknownName, UsageError
from skillopt_sleep.domain.slices import SLICES, SplitPolicy, slice_of
from skillopt_sleep.domain.tasks import Exact, Rubric, Rules, Task, Tool
from skillopt_sleep.mine.masking import masked_tasks
from skillopt_sleep.mine.tasks_file import (
    dump_tasks,
    load_tasks_file,
    read_tasks_file,
    request_key,
    require_reviewed,
)
from skillopt_sleep.redact import redact
from tests.redact.secrets import made_up

POLICY = SplitPolicy()


def load(folder: Path, text: str | bytes, name: str = "tasks.yaml") -> tuple[Task, ...]:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return load_tasks_file(path, POLICY)


FULL = """\
tasks:
  - id: notes-1
    prompt: Write the release notes for the login form.
    group: release notes
    family: login
    slice: val
    skill: release-notes
    checks:
      - {op: section_present, arg: Known issues}
      - {op: max_words, arg: 120, author: model}
    tools:
      - search
      - {name: lookup, description: Looks things up., notes: {a: b}}
  - id: notes-2
    prompt: Write the release notes for the signup form.
    rubric: Names what changed for the reader.
  - id: notes-3
    prompt: What is 6 times 7?
    split: test
    answer: "42"
  - id: notes-4
    prompt: Say hello.
    judge: {kind: rubric, text: Is friendly., threshold: 1}
"""


def test_a_file_with_every_field_is_read(tmp_path: Path) -> None:
    notes, signup, sum_, hello = load(tmp_path, FULL)
    assert (notes.slice, notes.split, notes.family, notes.group, notes.skill) == (
        *("gate", "val", "login", "release notes", "release-notes"),
    )
    assert isinstance(notes.criterion, Rules)
    assert [(c.op, c.arg, c.author) for c in notes.criterion.checks] == [
        ("section_present", "Known issues", "person"),
        ("max_words", 120, "model"),
    ]
    assert [(tool.name, tool.notes) for tool in notes.tools] == [("search", {}), ("lookup", {"a": "b"})]
    assert (signup.slice, signup.group) == (slice_of(signup.family, POLICY), "tasks")
    assert signup.criterion == Rubric(text="Names what changed for the reader.")
    assert (sum_.slice, sum_.criterion) == ("test", Exact(answer="42"))
    assert hello.criterion == Rubric(text="Is friendly.", threshold=1.0)


@pytest.mark.parametrize("name", ["tasks.json", "tasks.jsonl", "tasks.yml"])
def test_json_and_json_lines_and_the_gbrain_form_are_read_alike(tmp_path: Path, name: str) -> None:
    row = {
        "task_id": "bm-1",
        "task": "Write a brief.",
        "judge": {"kind": "rule", "checks": [{"op": "max_chars", "arg": 9}]},
    }
    text = json.dumps(row) if name.endswith("jsonl") else json.dumps([row])
    (task,) = load(tmp_path, "\ufeff" + text + "\r\n\r\n", name)
    assert (task.id, task.prompt, task.origin) == ("bm-1", "Write a brief.", "file")


def test_rewordings_without_a_stated_family_share_one(tmp_path: Path) -> None:
    rows = [
        {"id": str(n), "prompt": p, "answer": "x"} for n, p in enumerate(["Write a haiku.", "Please write a haiku!"])
    ]
    one, other = load(tmp_path, json.dumps(rows), "t.json")
    assert (one.family, one.slice) == (other.family, other.slice)


def test_a_single_task_and_a_file_of_test_tasks_only_load(tmp_path: Path) -> None:
    (single,) = load(tmp_path, "- {id: a, prompt: Report., checks: [{op: heading, arg: Results}]}")
    assert single.shape_only
    rows = "".join(f"- {{id: t{n}, prompt: Question {n}, answer: x, split: test}}\n" for n in range(3))
    assert [task.slice for task in load(tmp_path, rows)] == ["test"] * 3


TASK = "- {{id: a1, prompt: Say hello., {}}}"


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("", "t.yaml", ["t.yaml", "is empty"]),
        ("[]", "t.json", ["no tasks"]),
        ("just text", "t.yaml", ["expected a list", "text"]),
        ("tasks: {a: b}", "t.yaml", ["'tasks' must be a list"]),
        ("- nonsense", "t.yaml", ["task 1", "mapping of fields", "text"]),
        (b"- {id: \xff}", "t.yaml", ["t.yaml", "not UTF-8", "byte 8"]),
        ("tasks:\n\t- id: a", "t.yaml", ["line 2", "tab"]),
        ("- {id: a, id: b}", "t.yaml", ["line 1", "'id' stands twice"]),
        ('[{"id": "a", "id": "b"}]', "t.json", ["'id' stands twice"]),
        ('[{"id": NaN}]', "t.json", ["NaN"]),
        ('{"id": "a"\n', "t.jsonl", ["line 1", "not valid JSON"]),
        ("- a", "t.txt", [".txt", ".yaml"]),
        ("- {prompt: x, answer: y}", "t.yaml", ["task 1", "no 'id'"]),
        ("- {id: a1, answer: y}", "t.yaml", ["'a1'", "no 'prompt'"]),
        ("- {id: 2026-01-01, prompt: x, answer: y}", "t.yaml", ["'id'", "a date", "quotation marks"]),
        ("- {id: 7, prompt: x, answer: y}", "t.yaml", ["'id'", "a number"]),
        (TASK.format("answer: yes"), "t.yaml", ["'a1'", "'answer'", "true/false"]),
        (TASK.format("answer: 42"), "t.yaml", ["'answer'", "a number (42)"]),
        (TASK.format("answer: x, group: no"), "t.yaml", ["'group'", "true/false"]),
        (TASK.format("checks: [{op: contains, arg: 2026-01-01}]"), "t.yaml", ["check 1", "a date", "quotes"]),
        (TASK.format("checks: [{op: max_words, arg: true}]"), "t.yaml", ["check 1", "true/false"]),
        (TASK.format("checks: [{op: contains, arg: a}, {op: max_words, arg: -1}]"), "t.yaml", ["'a1', check 2"]),
        (TASK.format("checks: []"), "t.yaml", ["any reply would pass"]),
        (TASK.format("checks: [{op: regex, arg: '(?i)a|(?i)b'}]"), "t.yaml", ["'a1', check 1", "does not compile"]),
        (TASK.format("judge: {kind: rule, checks: [{op: regex, arg: '['}]}"), "t.yaml", ["'a1', check 1"]),
        ("- {id: a1, prompt: x}", "t.yaml", ["exactly one of", "found none"]),
        (TASK.format("answer: x, rubric: y"), "t.yaml", ["exactly one of", "'rubric' and 'answer'"]),
        (TASK.format("rubric: {text: y, threshold: 2}"), "t.yaml", ["threshold"]),
        (TASK.format("judge: {kind: exact}"), "t.yaml", ["needs an 'answer'"]),
        (TASK.format("answer: x, id2: y").replace("id2", "task_id"), "t.yaml", ["'id' and 'task_id' mean the same"]),
        (TASK.format("answer: x, tools: [{description: y}]"), "t.yaml", ["tool 1", "needs a 'name'"]),
        (TASK.format("answer: x, tools: [{name: y, notes: {a: 1}}]"), "t.yaml", ["tool 1", "notes"]),
        (f"{TASK.format('answer: x')}\n{TASK.format('answer: y')}", "t.yaml", ["'a1'", "id is taken"]),
        ('[{"id": "\\ud800", "prompt": "x", "answer": "y"}]', "t.json", ["surrogate"]),
        ("[" * 5000, "t.json", ["not usable JSON"]),
    ],
)
def test_a_fault_is_an_error_that_names_its_place(
    tmp_path: Path, text: str | bytes, name: str, words: list[str]
) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, text, name)
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize(
    ("fields", "nearest"),
    [
        ("answer: x, promt: y", "prompt"),
        ("checks: [{op: contain, arg: x}]", "contains"),
        ("answer: x, slice: tset", "test"),
        ("judge: {kind: rules}", "rule"),
        ("judge: {kind: rubric, txt: y}", "text"),
        ("answer: x, tools: [{name: y, note: {}}]", "notes"),
    ],
)
def test_an_unknown_word_names_the_nearest_known_one_and_the_task(tmp_path: Path, fields: str, nearest: str) -> None:
    with pytest.raises(UnknownName, match="'a1'") as caught:
        load(tmp_path, TASK.format(fields))
    assert caught.value.nearest == nearest


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(InputError, match=path.name):
            load_tasks_file(path, POLICY)


def test_one_family_in_two_slices_is_refused(tmp_path: Path) -> None:
    row = "- {{id: {}, prompt: x, answer: y, family: f, slice: {}}}\n"
    rows = row.format("a", "train") + row.format("b", "holdout")
    with pytest.raises(InputError, match="'f' is in slice 'gate', but in 'train' through task 'a'"):
        load(tmp_path, rows)


def test_a_family_takes_the_slice_that_one_of_its_tasks_states(tmp_path: Path) -> None:
    rows = "- {id: a, prompt: x, answer: y, family: f}\n- {id: b, prompt: z, answer: y, family: f, slice: %s}"
    for chosen in SLICES:
        assert [task.slice for task in load(tmp_path, rows % chosen)] == [chosen, chosen]


def test_the_same_request_in_two_slices_is_refused_with_both_ids_whatever_families_it_is_given(tmp_path: Path) -> None:
    row = "- {{id: {}, prompt: {}, answer: y, family: {}, slice: {}}}\n"
    apart = row.format("a", "Write the notes on tea.", "f1", "train") + row.format(
        "b", '"Please write the tea notes on"', "f2", "gate"
    )
    with pytest.raises(InputError, match=r"'a' \(train\) and 'b' \(gate\) make the same request"):
        load(tmp_path, apart)
    assert len(load(tmp_path, apart.replace("gate", "train"))) == 2


def test_a_reviewed_file_says_so_and_makes_what_a_model_wrote_its_persons_word(tmp_path: Path) -> None:
    rows = (
        "tasks:\n- {id: a, prompt: Say hello., checks: [{op: max_words, arg: 9, author: model}]}\n"
        "- {id: b, prompt: Say bye., judge: {kind: rubric, text: Is kind., author: model}}\n"
    )
    (tmp_path / "t.yaml").write_text(rows)
    mined = read_tasks_file(tmp_path / "t.yaml", POLICY)
    assert not mined.reviewed
    assert all(task.model_authored for task in mined.tasks)
    with pytest.raises(UsageError, match=r"not marked as reviewed.*reviewed: true"):
        require_reviewed(mined)
    with pytest.raises(UsageError, match="harvest --output"):
        require_reviewed(None)
    (tmp_path / "t.yaml").write_text("reviewed: true\n" + rows)
    read = read_tasks_file(tmp_path / "t.yaml", POLICY)
    assert read.reviewed
    assert not any(task.model_authored for task in read.tasks)
    require_reviewed(read)


def test_whether_a_file_was_reviewed_is_not_guessed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'reviewed' is true or false, not text"):
        load(tmp_path, "reviewed: perhaps\ntasks:\n- {id: a, prompt: x, answer: y}")


def test_a_file_written_for_review_asks_for_it_and_loads(tmp_path: Path) -> None:
    tasks = load(tmp_path, FULL)
    text = dump_tasks(tasks, reviewed=False)
    assert "\nreviewed: false\n" in text
    assert "`reviewed: true`" in text.partition("\nreviewed")[0]
    assert load(tmp_path, text, "again.yaml") == tasks
    (tmp_path / "again.yaml").write_text(text)
    assert not read_tasks_file(tmp_path / "again.yaml", POLICY).reviewed


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20) | st.text(
    "ab \n\t:-#'\"\r\x85\u2028", min_size=1, max_size=12
)
WORDS = TEXT.filter(lambda text: bool(text.strip()))
CHECKS = st.builds(
    lambda op, text, number, author: parse_check(_row(op, text, number), where="", author=author),
    st.sampled_from(OPERATORS), TEXT, st.integers(0, 999), st.sampled_from(["person", "model"]),
)  # fmt: skip


def _row(op: str, text: str, number: int) -> dict[str, Any]:
    return {"op": op, "arg": _argument(op, text, number)}


def _argument(op: str, text: str, number: int) -> Any:
    if op.startswith(("max_", "min_")):
        return number
    if op == "json_schema":
        return {"type": "object", "title": text, "required": ["yes", "1"], "maxProperties": number}
    if op in ("no_refusal", "json_valid"):
        return None
    return re.escape(text) if op == "regex" else text


TOOLS = st.builds(Tool, name=TEXT, description=TEXT, notes=st.dictionaries(TEXT, TEXT, max_size=2))
TASKS = st.lists(
    st.builds(
        Task,
        id=TEXT,
        prompt=WORDS,
        criterion=st.one_of(
            st.lists(CHECKS, min_size=1, max_size=3).map(lambda checks: Rules(checks=tuple(checks))),
            st.builds(Exact, answer=st.text(st.characters(exclude_categories=["Cs"]), max_size=9)),
            st.builds(
                Rubric,
                text=WORDS,
                threshold=st.floats(0.01, 1.0),
                reference=st.none() | TEXT,
                author=st.sampled_from(["person", "model"]),
            ),
        ),
        group=TEXT,
        family=TEXT,
        slice=st.sampled_from(SLICES),
        skill=st.none() | TEXT,
        origin=st.sampled_from(["session", "file", "gbrain", "evals"]),
        tools=st.lists(TOOLS, max_size=1).map(tuple),
        said=st.lists(TEXT, max_size=2).map(tuple),
        not_evaluable=st.none() | TEXT,
    ),
    min_size=1,
    max_size=3,
    unique_by=(lambda task: task.id, lambda task: task.family, lambda task: request_key(task.prompt)),
)  # fmt: skip


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(tasks=TASKS)
def test_dumped_tasks_load_back_equal(tmp_path: Path, tasks: list[Task]) -> None:
    assert load(tmp_path, dump_tasks(tasks), "dump.yaml") == tuple(tasks)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=60), name=st.sampled_from(["a.yaml", "a.json", "a.jsonl"]))
def test_any_text_loads_or_is_refused_in_words(tmp_path: Path, text: str, name: str) -> None:
    with suppress(UsageError):  # anything else is a bug
        load(tmp_path, text.encode("utf-8", "surrogatepass"), name)


def test_secrets_of_a_tasks_file_are_masked_where_they_are_shown_and_kept_where_they_are_compared() -> None:
    secret = "gh" + "p_" + made_up(36)
    task = Task(
        id="a",
        prompt=f"Use {secret}.",
        criterion=Rules(checks=(Contains(arg=secret),)),
        group="g",
        family="f",
        slice="train",
        origin="file",
        tools=(Tool(name="search", description="Looks.", notes={"access": f"key {secret}"}),),
    )
    (masked,), counts = masked_tasks([task], redact)
    assert masked.prompt == "Use [masked:github_token]."
    assert masked.tools[0].notes == {"access": "key [masked:github_token]"}
    assert masked.criterion == task.criterion
    assert counts == {"github_token": 2}

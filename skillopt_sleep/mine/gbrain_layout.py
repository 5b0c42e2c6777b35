"""The gbrain-evals `skillopt-v1` layout: one folder per deficient skill.

    seed-<flaw>/SKILL.md           the skill to improve
    seed-<flaw>/benchmark.jsonl    {"task_id", "task", "judge"} rows that may be learnt from: train and gate
    seed-<flaw>/held-out.jsonl     rows never seen while learning: the test slice
    seed-<flaw>/brain/topics/*.md  notes for the tool of tasks that must call one; may be absent

Benchmark rows are ranked by a stable hash of their id; the first third goes to the gate, the rest to train.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillopt_sleep.domain.base import sha256_hex
from skillopt_sleep.domain.checks import ToolCalled
from skillopt_sleep.domain.errors import InputError
from skillopt_sleep.domain.slices import Slice
from skillopt_sleep.domain.tasks import Criterion, Rules, Task, Tool
from skillopt_sleep.mine.rows import fields, read_document, read_text, text_field
from skillopt_sleep.mine.tasks_file import read_criterion, require_unique_ids

_FIELDS = ("task_id", "task", "judge")
_TOOL_TEXT = "Looks through the notes of this data set and returns those that fit the query."


def load_seed_folder(folder: Path) -> tuple[str, tuple[Task, ...]]:
    """A seed's skill, exactly as it stands in the file, and its tasks: train and gate in file order, then test.

    Each task is its own family. Raises `InputError` (or `UnknownName` for an operator) naming file, task and check.
    """
    if not folder.is_dir():
        raise InputError(f"There is no seed folder {folder}.")
    skill = read_text(folder / "SKILL.md")
    notes = _notes(folder / "brain" / "topics")
    benchmark = _rows(folder / "benchmark.jsonl")
    held_out = _rows(folder / "held-out.jsonl")
    require_unique_ids(((task_id, f"{folder}, task {task_id!r}") for task_id, _, _ in [*benchmark, *held_out]), folder)
    gate = _gate_ids([task_id for task_id, _, _ in benchmark])
    tasks = [_task(row, folder.name, "gate" if row[0] in gate else "train", notes) for row in benchmark]
    tasks += [_task(row, folder.name, "test", notes) for row in held_out]
    return skill, tuple(tasks)


def _gate_ids(ids: list[str]) -> frozenset[str]:
    """The first third by hash rank, rounded down: 5 of 15."""
    ranked = sorted(ids, key=lambda task_id: (sha256_hex(f"gate:{task_id}"), task_id))
    return frozenset(ranked[: len(ranked) // 3])


def _rows(path: Path) -> list[tuple[str, str, Criterion]]:
    document = read_document(path)
    rows = document if isinstance(document, list) else []
    return [_row(row, f"{path}, row {number}", path) for number, row in enumerate(rows, start=1)]


def _row(raw: object, where: str, path: Path) -> tuple[str, str, Criterion]:
    values = fields(raw, _FIELDS, where)
    task_id = _required(values, "task_id", where)
    where = f"{path}, task {task_id!r}"
    return task_id, _required(values, "task", where), read_criterion(values, where)


def _required(values: Mapping[str, Any], name: str, where: str) -> str:
    value = text_field(values, name, where)
    if not value or not value.strip():
        raise InputError(f"{where}: the task has no {name!r}.")
    return value


def _task(row: tuple[str, str, Criterion], seed: str, part: Slice, notes: dict[str, str]) -> Task:
    task_id, prompt, criterion = row
    checks = criterion.checks if isinstance(criterion, Rules) else ()
    names = dict.fromkeys(check.arg for check in checks if isinstance(check, ToolCalled))
    return Task(
        id=task_id,
        prompt=prompt,
        criterion=criterion,
        group=seed,
        family=f"{seed}/{task_id}",
        slice=part,
        origin="gbrain",
        tools=tuple(Tool(name=name, description=_TOOL_TEXT, notes=notes) for name in names),
    )


def _notes(folder: Path) -> dict[str, str]:
    """Topic -> text; an absent folder holds no notes."""
    paths = sorted(folder.glob("*.md")) if folder.is_dir() else []
    return {path.stem: read_text(path) for path in paths}

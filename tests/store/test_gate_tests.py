from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from skillopt_sleep.domain.errors import StateError
from skillopt_sleep.domain.gate_tests import GateTest, Question
from skillopt_sleep.domain.trials import Mark, Pair
from skillopt_sleep.domain.verdicts import GatePolicy
from skillopt_sleep.store import KeptGateTests


def a_test(name: str) -> GateTest:
    question = Question(skill="s", before_sha256=None, after_sha256=name, agent="a", judge="j", metric="hard")
    pair = Pair(family="f", task_id="t", sample=0, before=Mark(hard=0.0, soft=0.5), after=None)
    return GateTest(question=question, families={"f": ("t",)}, policy=GatePolicy(), seed=7, number=1, pairs=(pair,))


def test_tests_come_back_as_they_were_kept_oldest_first_and_the_last_word_on_each_counts(tmp_path: Path) -> None:
    kept = KeptGateTests(tmp_path / "gate.sqlite3", "/shop", simulated=False)
    assert kept.all() == ()
    assert not (tmp_path / "gate.sqlite3").exists(), "looking must not create anything"
    first, second = a_test("one"), a_test("two")
    kept.save(first)
    kept.save(second)
    looked = first.model_copy(update={"looks": 2})
    kept.save(looked)
    assert kept.all() == (looked, second)


def test_projects_and_simulated_nights_keep_accounts_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "gate.sqlite3"
    KeptGateTests(path, "/shop", simulated=True).save(a_test("one"))
    assert KeptGateTests(path, "/shop", simulated=False).all() == ()
    assert KeptGateTests(path, "/other", simulated=True).all() == ()


def test_a_test_that_cannot_be_read_is_an_error_and_not_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "gate.sqlite3"
    kept = KeptGateTests(path, "/shop", simulated=False)
    kept.save(a_test("one"))
    with sqlite3.connect(path) as db:
        db.execute("UPDATE gate_test SET record = '{}'")
    db.close()
    with pytest.raises(StateError, match="cannot be read"):
        kept.all()

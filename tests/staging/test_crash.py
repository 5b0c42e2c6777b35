"""Power cuts at every step of staging, adopting and undoing: before a step, after it, and half-way through a write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from skillopt_sleep.domain.errors import ConflictError, StateError
from skillopt_sleep.staging import list_proposals
from tests.staging.desk import AFTER, BEFORE, RULE, Desk
from tests.store.disks import DyingDisk, Moment, PowerCut, Unsynced

MOMENTS: tuple[Moment, ...] = ("before", "within", "after")


def _live(desk: Desk) -> bytes | None:
    return desk.live.read_bytes() if desk.live.exists() else None


def _with_a_cut_at_every_step(
    root: Path, moment: Moment, act: Callable[[Desk], object], *, prepare: Callable[[Desk], object]
) -> Iterator[Desk]:
    """A fresh desk for each step of `act`, after a power cut at that step, until `act` gets through."""
    for at in count(1):
        desk = Desk(root / f"{moment}-{at}")
        prepare(desk)
        desk.disk = DyingDisk(at, moment)
        try:
            act(desk)
        except PowerCut:
            desk.disk = Unsynced()
            yield desk
        else:
            assert at > 5, "the cuts must have struck before, at and after the swap"
            return


def _staged(desk: Desk) -> None:
    desk.stage()


def _staged_as_new(desk: Desk) -> None:
    desk.live.unlink()
    desk.live.parent.rmdir()
    desk.stage(before=None)


def _adopted(desk: Desk) -> None:
    desk.stage()
    desk.adopt()


def _adopted_as_new(desk: Desk) -> None:
    _staged_as_new(desk)
    desk.adopt()


def _is_clean(desk: Desk) -> bool:
    return not desk.live.parent.exists() or [entry.name for entry in desk.live.parent.iterdir()] in (["SKILL.md"], [])


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize(("prepare", "before"), [(_staged, BEFORE), (_staged_as_new, None)])
def test_an_adoption_cut_at_any_step_left_old_or_new_bytes_and_is_finished_by_the_next_call(
    tmp_path: Path, moment: Moment, prepare: Callable[[Desk], object], before: bytes | None
) -> None:
    seen = set()
    for desk in _with_a_cut_at_every_step(tmp_path, moment, Desk.adopt, prepare=prepare):
        live = _live(desk)
        assert live in (before, AFTER)
        assert desk.status() == ("adopted" if live == AFTER else "staged"), "the state must say what is live"
        seen.add((live, desk.ledger_kinds()[-1]))
        desk.adopt_unless_done()
        assert (_live(desk), desk.status(), _is_clean(desk)) == (AFTER, "adopted", True)
        desk.undo()
        assert (_live(desk), desk.status(), _is_clean(desk)) == (before, "undone", True)
    assert {(before, "adopting"), (AFTER, "adopting")} <= seen, "a cut must have struck on both sides of the swap"


@pytest.mark.parametrize("moment", MOMENTS)
def test_after_a_cut_adoption_an_undo_takes_back_whatever_happened(tmp_path: Path, moment: Moment) -> None:
    for desk in _with_a_cut_at_every_step(tmp_path, moment, Desk.adopt, prepare=_staged):
        if _live(desk) == AFTER:
            desk.undo()
        else:
            with pytest.raises(ConflictError, match="nothing to undo"):
                desk.undo()
        assert _live(desk) == BEFORE


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize(("prepare", "before"), [(_adopted, BEFORE), (_adopted_as_new, None)])
def test_an_undo_cut_at_any_step_left_old_or_new_bytes_and_is_finished_by_the_next_call(
    tmp_path: Path, moment: Moment, prepare: Callable[[Desk], object], before: bytes | None
) -> None:
    for desk in _with_a_cut_at_every_step(tmp_path, moment, Desk.undo, prepare=prepare):
        live = _live(desk)
        assert live in (before, AFTER)
        assert desk.status() == ("adopted" if live == AFTER else "undone")
        desk.undo_unless_done()
        assert (_live(desk), desk.status(), _is_clean(desk)) == (before, "undone", True)
        assert desk.live.parent.exists() is (before is not None)
        assert desk.memory.turned_down("notes") == (RULE,)


@pytest.mark.parametrize("moment", MOMENTS)
def test_after_a_cut_undo_the_proposal_can_be_adopted_again(tmp_path: Path, moment: Moment) -> None:
    for desk in _with_a_cut_at_every_step(tmp_path, moment, Desk.undo, prepare=_adopted):
        desk.adopt_unless_done()
        assert (_live(desk), desk.status()) == (AFTER, "adopted")


@pytest.mark.parametrize("moment", MOMENTS)
def test_staging_cut_at_any_step_leaves_a_whole_proposal_or_none(tmp_path: Path, moment: Moment) -> None:
    for desk in _with_a_cut_at_every_step(tmp_path, moment, Desk.stage, prepare=lambda _: None):
        found = list_proposals(desk.project)
        for staged in found:
            assert (staged.before(), staged.after(), staged.status) == (BEFORE, AFTER, "staged")
        if found:
            desk.adopt()
            assert _live(desk) == AFTER
        else:
            assert _live(desk) == BEFORE


def test_an_undo_whose_memory_cannot_be_written_is_finished_when_it_can(desk: Desk) -> None:
    _adopted(desk)
    memory = desk.home.path / "memory.sqlite3"
    memory.mkdir()
    with pytest.raises(StateError):
        desk.undo()
    assert (_live(desk), desk.status()) == (BEFORE, "undone")
    memory.rmdir()
    desk.undo()
    assert desk.memory.turned_down("notes") == (RULE,)
    assert desk.ledger_kinds()[-1] == "undone"

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from skillopt_sleep.domain.base import sha256_hex
from skillopt_sleep.domain.errors import ConflictError, NothingToDo, SleepError, StateError, UnknownName
from skillopt_sleep.domain.reports import LedgerEntry
from skillopt_sleep.domain.verdicts import Decision
from skillopt_sleep.staging import count_unreadable, dismiss, find, list_proposals, stage
from skillopt_sleep.store import Disk
from tests.staging.desk import AFTER, BEFORE, NOW, RULE, Desk, clock


def test_adopting_and_undoing_gives_back_the_very_bytes_and_the_mode(desk: Desk) -> None:
    desk.live.chmod(0o640)
    desk.stage()
    assert desk.adopt().sha256 == sha256_hex(AFTER)
    assert desk.live.read_bytes() == AFTER
    assert desk.status() == "adopted"
    assert desk.undo().remembered == (RULE,)
    assert desk.live.read_bytes() == BEFORE
    assert desk.status() == "undone"
    if os.name != "nt":
        assert stat.S_IMODE(desk.live.stat().st_mode) == 0o640
    assert desk.memory.turned_down("notes") == (RULE,)


def test_undo_refuses_after_an_edit_by_hand_and_loses_nothing(desk: Desk) -> None:
    desk.stage()
    desk.adopt()
    desk.live.write_bytes(AFTER + b"my own line\r\n")
    with pytest.raises(ConflictError, match="has changed since it was adopted"):
        desk.undo()
    assert desk.live.read_bytes() == AFTER + b"my own line\r\n"
    assert desk.memory.turned_down("notes") == ()


def test_a_file_that_adopting_created_goes_away_with_its_folder(desk: Desk) -> None:
    new = desk.root / "project" / ".claude" / "skills" / "fresh" / "SKILL.md"
    new.parent.parent.mkdir(parents=True)
    desk.stage(before=None, target=new)
    desk.adopt()
    assert new.read_bytes() == AFTER
    assert desk.undo().sha256 is None
    assert not new.parent.exists()
    assert new.parent.parent.exists()


def test_adopt_refuses_a_live_file_that_changed_by_one_byte(desk: Desk) -> None:
    desk.stage()
    desk.live.write_bytes(BEFORE + b" ")
    with pytest.raises(ConflictError, match="has changed since the proposal was made") as caught:
        desk.adopt()
    assert "Nothing was written" in caught.value.hint
    assert desk.live.read_bytes() == BEFORE + b" "
    assert desk.status() == "staged"


def _manifest(desk: Desk, **changes: str) -> None:
    file = find(desk.project, "notes").folder / "proposal.json"
    file.write_text(json.dumps({**json.loads(file.read_text(encoding="utf-8")), **changes}), encoding="utf-8")


@pytest.mark.parametrize(
    "elsewhere",
    [
        lambda root: root / "etc" / "SKILL.md",
        lambda root: root / "claude" / "skills" / ".." / ".." / "etc" / "SKILL.md",
        lambda root: root / "claude" / "skills" / "notes" / "settings.json",
        lambda root: root / "claude" / "plugins" / "cache" / "m" / "p" / "1" / "skills" / "x" / "SKILL.md",
        lambda root: Path("claude/skills/notes/SKILL.md"),
    ],
)
def test_a_manifest_that_points_elsewhere_is_refused(desk: Desk, elsewhere: Callable[[Path], Path]) -> None:
    desk.stage()
    target = elsewhere(desk.root)
    if target.is_absolute():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(BEFORE)
    _manifest(desk, target=str(target))
    with pytest.raises(ConflictError, match="is not changed"):
        desk.adopt()
    assert desk.live.read_bytes() == BEFORE
    if target.is_absolute():
        assert target.read_bytes() == BEFORE


def test_staged_bytes_that_were_changed_are_refused(desk: Desk) -> None:
    desk.stage()
    (find(desk.project, "notes").folder / "after.md").write_bytes(b"rm -rf")
    with pytest.raises(ConflictError, match="not what was staged"):
        desk.adopt()
    assert desk.live.read_bytes() == BEFORE


@pytest.mark.parametrize("decision", ["inconclusive", "reject"])
def test_what_the_gate_did_not_accept_needs_to_be_asked_for(desk: Desk, decision: Decision) -> None:
    desk.stage(decision=decision)
    with pytest.raises(ConflictError, match="did not confirm") as caught:
        desk.adopt()
    assert "--unverified" in caught.value.hint
    desk.adopt(unverified=True)
    assert desk.live.read_bytes() == AFTER


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege on Windows")
def test_a_link_stays_a_link_and_its_file_is_changed(desk: Desk) -> None:
    real = desk.root / "dotfiles" / "SKILL.md"
    real.parent.mkdir()
    desk.live.rename(real)
    desk.live.symlink_to(real)
    desk.stage()
    desk.adopt()
    assert desk.live.is_symlink()
    assert real.read_bytes() == AFTER
    desk.undo()
    assert real.read_bytes() == BEFORE


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege on Windows")
def test_a_plugins_file_is_not_changed_through_a_link_either(desk: Desk) -> None:
    real = desk.root / "claude" / "plugins" / "cache" / "SKILL.md"
    real.parent.mkdir(parents=True)
    desk.live.rename(real)
    desk.live.symlink_to(real)
    desk.stage()
    with pytest.raises(ConflictError, match="belongs to a plugin"):
        desk.adopt()
    assert real.read_bytes() == BEFORE


def test_adopting_twice_undoing_twice_and_dismissing_what_is_adopted_are_refused(desk: Desk) -> None:
    desk.stage()
    with pytest.raises(ConflictError, match="nothing to undo"):
        desk.undo()
    desk.adopt()
    with pytest.raises(ConflictError, match="adopted already"):
        desk.adopt()
    with pytest.raises(ConflictError, match="adopted already"):
        dismiss(desk.project, find(desk.project, "notes"), memory=desk.memory, clock=clock)
    desk.undo()
    with pytest.raises(ConflictError, match="nothing to undo"):
        desk.undo()


def test_a_dismissed_proposal_is_remembered_and_cannot_be_adopted(desk: Desk) -> None:
    desk.stage()
    dismiss(desk.project, find(desk.project, "notes"), memory=desk.memory, clock=clock)
    assert desk.memory.turned_down("notes") == (RULE,)
    with pytest.raises(ConflictError, match="dismissed already"):
        desk.adopt()


def test_a_stale_look_at_a_proposal_cannot_adopt_it_a_second_time(desk: Desk) -> None:
    desk.stage()
    seen_before = find(desk.project, "notes")
    desk.adopt()
    with pytest.raises(ConflictError, match="adopted already"):
        desk.adopt(staged=seen_before)


def test_proposals_are_found_by_id_beginning_and_skill_and_unknown_ones_name_the_nearest(desk: Desk) -> None:
    desk.stage(number=1)
    desk.stage(number=2)
    assert find(desk.project, "notes-00000001").proposal.id == "notes-00000001"
    assert find(desk.project, "notes").proposal.id == "notes-00000002", "the newest of a skill"
    with pytest.raises(ConflictError, match="Several proposals begin"):
        find(desk.project, "notes-0")
    with pytest.raises(UnknownName, match="Did you mean"):
        find(desk.project, "notes-00000003")
    assert len(list_proposals(desk.project)) == 2


def test_a_proposal_whose_manifest_is_damaged_is_left_out_and_the_others_stay(desk: Desk) -> None:
    first, second = desk.stage(number=1), desk.stage(number=2)
    (find(desk.project, second.id).folder / "proposal.json").write_text("{", encoding="utf-8")
    assert [staged.proposal.id for staged in list_proposals(desk.project)] == [first.id]
    assert count_unreadable(desk.project) == 1


@pytest.mark.parametrize("swapped", [True, False])
def test_after_a_crash_between_swap_and_entry_the_disk_decides(desk: Desk, swapped: bool) -> None:
    proposal = desk.stage()
    desk.project.ledger.append(LedgerEntry(kind="adopting", at=NOW, proposal_id=proposal.id))
    if swapped:
        desk.live.write_bytes(AFTER)
    desk.adopt()
    assert (desk.live.read_bytes(), desk.status()) == (AFTER, "adopted")
    assert desk.undo().sha256 == sha256_hex(BEFORE)


def test_an_adoption_that_crashed_after_its_swap_can_be_undone_at_once(desk: Desk) -> None:
    proposal = desk.stage()
    desk.project.ledger.append(LedgerEntry(kind="adopting", at=NOW, proposal_id=proposal.id))
    desk.live.write_bytes(AFTER)
    desk.undo()
    assert desk.live.read_bytes() == BEFORE


def test_a_live_path_that_is_a_folder_is_an_error_for_people(desk: Desk) -> None:
    desk.stage()
    desk.live.unlink()
    desk.live.mkdir()
    with pytest.raises(SleepError, match="cannot be read"):
        desk.adopt()


# --- more ways in which the world can have changed ------------------------------------------------------------------


def test_a_manifest_that_points_to_another_skill_of_the_person_is_refused_too(desk: Desk) -> None:
    other = desk.root / "claude" / "skills" / "other" / "SKILL.md"
    other.parent.mkdir()
    other.write_bytes(BEFORE)
    desk.stage()
    _manifest(desk, target=str(other))
    with pytest.raises(ConflictError, match="is not what was staged"):
        desk.adopt()
    assert other.read_bytes() == BEFORE


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege on Windows")
@pytest.mark.parametrize(("place", "refused"), [("outside", True), ("project/docs", False)])
def test_a_link_in_a_project_must_not_lead_out_of_it(desk: Desk, place: str, refused: bool) -> None:
    real = desk.root / place / "SKILL.md"
    link = desk.root / "project" / ".claude" / "skills" / "notes" / "SKILL.md"
    for file in (real, link):
        file.parent.mkdir(parents=True)
    real.write_bytes(BEFORE)
    link.symlink_to(real)
    desk.stage(target=link)
    if refused:
        with pytest.raises(ConflictError, match="leads out of the project"):
            desk.adopt()
    else:
        desk.adopt()
    assert real.read_bytes() == (BEFORE if refused else AFTER)


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege on Windows")
def test_links_to_what_is_no_skill_and_links_in_a_circle_are_refused(desk: Desk) -> None:
    profile = desk.root / ".bashrc"
    profile.write_bytes(BEFORE)
    desk.live.unlink()
    desk.live.symlink_to(profile)
    desk.stage()
    with pytest.raises(ConflictError, match="no Markdown file"):
        desk.adopt()
    desk.live.unlink()
    desk.live.symlink_to(desk.live)
    with pytest.raises(ConflictError, match="lead nowhere"):
        desk.adopt()
    assert profile.read_bytes() == BEFORE


def test_a_damaged_backup_is_noticed_before_anything_is_replaced(desk: Desk) -> None:
    desk.stage()
    (find(desk.project, "notes").folder / "before.md").write_bytes(b"?")
    with pytest.raises(ConflictError, match="not what was staged"):
        desk.adopt()
    assert desk.live.read_bytes() == BEFORE


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_a_write_protected_skill_is_left_alone(desk: Desk) -> None:
    desk.stage()
    desk.live.chmod(0o444)
    with pytest.raises(StateError, match="write-protected"):
        desk.adopt()
    assert desk.live.read_bytes() == BEFORE


def test_every_folder_that_adopting_made_goes_again_unless_something_else_lies_in_it(desk: Desk) -> None:
    new = desk.root / "project" / ".claude" / "skills" / "fresh" / "SKILL.md"
    desk.stage(before=None, target=new)
    desk.adopt()
    (desk.root / "project" / ".claude" / "settings.json").write_text("{}", encoding="utf-8")
    desk.undo()
    assert not (desk.root / "project" / ".claude" / "skills").exists()
    assert (desk.root / "project" / ".claude" / "settings.json").exists()
    if os.name != "nt":
        desk.adopt()
        assert stat.S_IMODE(new.stat().st_mode) == 0o644
        assert stat.S_IMODE(new.parent.stat().st_mode) & 0o500 == 0o500


def test_what_was_undone_can_be_adopted_again_and_undone_again(desk: Desk) -> None:
    desk.stage()
    for _ in range(2):
        desk.adopt()
        desk.undo()
    assert desk.live.read_bytes() == BEFORE


def test_undoing_under_a_later_adoption_names_the_one_to_undo_first(desk: Desk) -> None:
    first = desk.stage(number=1)
    desk.adopt()
    later = desk.stage(number=2, before=AFTER, after=AFTER + b"- Be quick.\r\n", at=NOW + timedelta(hours=1))
    desk.adopt()
    with pytest.raises(ConflictError) as caught:
        desk.undo(first.id)
    assert later.id in caught.value.hint
    desk.undo(later.id)
    desk.undo(first.id)
    assert desk.live.read_bytes() == BEFORE


def test_of_several_proposals_for_a_skill_the_wanted_status_goes_before_the_newest(desk: Desk) -> None:
    first = desk.stage(number=1)
    desk.adopt()
    newest = desk.stage(number=2, before=AFTER, after=AFTER + b"!", at=NOW + timedelta(hours=1))
    assert find(desk.project, "notes").proposal.id == newest.id
    assert find(desk.project, "notes", prefer="adopted").proposal.id == first.id


def test_dismissing_turns_the_rules_down_and_is_final(desk: Desk) -> None:
    proposal = desk.stage()
    dismiss(desk.project, find(desk.project, "notes"), memory=desk.memory, clock=clock)
    (entry,) = desk.memory.all_turned_down()
    assert (entry.rule, entry.reason, entry.proposal_id) == (RULE, "dismissed", proposal.id)
    with pytest.raises(ConflictError, match="dismissed already"):
        desk.adopt()
    assert desk.live.read_bytes() == BEFORE


def test_a_proposal_without_a_change_is_not_staged(desk: Desk) -> None:
    with pytest.raises(NothingToDo, match="change nothing"):
        desk.stage(after=BEFORE)
    assert list_proposals(desk.project) == ()


def test_staging_again_replaces_what_nobody_has_decided_on_and_nothing_else(desk: Desk) -> None:
    proposal = desk.stage()
    assert stage(desk.project, proposal, BEFORE, AFTER) == proposal
    assert len(list_proposals(desk.project)) == 1
    desk.adopt()
    with pytest.raises(ConflictError, match="adopted already"):
        stage(desk.project, proposal, BEFORE, AFTER)


# --- races ----------------------------------------------------------------------------------------------------------


class Meddling(Disk):
    """Lets somebody else do something right before the adoption's intent is on record."""

    def __init__(self, meddle: Callable[[], object]) -> None:
        self._meddle: Callable[[], object] | None = meddle

    def open_new(self, path: Path, mode: int) -> int:
        if self._meddle is not None:
            meddle, self._meddle = self._meddle, None
            meddle()
        return super().open_new(path, mode)


def test_an_edit_by_hand_in_the_moment_of_adopting_is_not_overwritten(desk: Desk) -> None:
    desk.stage()
    desk.disk = Meddling(lambda: desk.live.write_bytes(b"typed just now"))
    with pytest.raises(ConflictError, match="in this very moment"):
        desk.adopt()
    assert desk.live.read_bytes() == b"typed just now"
    assert [entry.name for entry in desk.live.parent.iterdir()] == ["SKILL.md"]
    desk.live.write_bytes(BEFORE)
    desk.adopt()
    assert desk.status() == "adopted"


def test_of_two_adoptions_at_the_same_time_the_second_is_refused(desk: Desk) -> None:
    desk.stage()
    second: list[str] = []

    def race() -> None:
        with pytest.raises(ConflictError) as caught, Desk(desk.root).project.swap_lock(patience=0.05):
            raise AssertionError("both hold the lock")
        second.append(caught.value.message)

    stale = find(desk.project, "notes")
    desk.disk = Meddling(race)
    desk.adopt()
    assert second == ["Another adoption or undo is going on."]
    with pytest.raises(ConflictError, match="adopted already"):
        desk.adopt(staged=stale)

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from skillopt_sleep.domain.base import sha256_hex
from skillopt_sleep.domain.errors import ConflictError, SleepError, StateError, UnknownName
from skillopt_sleep.domain.reports import LedgerEntry, Proposal
from skillopt_sleep.domain.skills import AddRule, EditOutcome
from skillopt_sleep.domain.verdicts import Decision, Verdict
from skillopt_sleep.staging import (
    AllowedRoots,
    Change,
    adopt,
    count_unreadable,
    dismiss,
    find,
    list_proposals,
    stage,
    undo,
)
from skillopt_sleep.store import Disk, Memory, ProjectFolder, StateHome
from tests.store.disks import PowerCut

NOW = datetime(2026, 12, 1, 3, 0, tzinfo=UTC)
BEFORE = b"# Notes\r\n\r\nBe brief.\r\n"
AFTER = BEFORE + b"- Be kind.\r\n"
RULE = "Be kind."


def clock() -> datetime:
    return NOW


@dataclass
class Desk:
    """One project with a live skill, as a person would have it."""

    root: Path
    disk: Disk = field(default_factory=Disk)

    def __post_init__(self) -> None:
        self.live = self.root / "claude" / "skills" / "notes" / "SKILL.md"
        self.live.parent.mkdir(parents=True)
        self.live.write_bytes(BEFORE)
        self.home = StateHome(self.root / "state")
        self.memory: Memory = self.home.memory(self.root)
        self.roots = AllowedRoots(claude_root=self.root / "claude", project_root=self.root / "project")

    @property
    def project(self) -> ProjectFolder:
        folder = self.home.project(self.root)
        return ProjectFolder(folder.path, folder.root, self.disk)

    def stage(
        self,
        *,
        decision: Decision = "accept",
        before: bytes | None = BEFORE,
        target: Path | None = None,
        number: int = 1,
    ) -> Proposal:
        journal = self.project.new_night(NOW)
        proposal = Proposal(
            id=f"notes-0000000{number}",
            night_id=journal.id,
            project=str(self.root),
            skill="notes",
            target=str(target or self.live),
            before_sha256=sha256_hex(before) if before is not None else None,
            after_sha256=sha256_hex(AFTER),
            created_at=NOW,
            outcomes=(EditOutcome(edit=AddRule(text=RULE), status="applied", rule_id="r1"),),
            verdict=Verdict(decision=decision, reason="improved", explanation="Because."),
        )
        return stage(self.project, proposal, before, AFTER)

    def adopt(self, *, unverified: bool = False) -> Change:
        return adopt(self.project, find(self.project, "notes"), roots=self.roots, unverified=unverified, clock=clock)

    def undo(self) -> Change:
        return undo(self.project, find(self.project, "notes"), roots=self.roots, memory=self.memory, clock=clock)

    def status(self) -> str:
        return find(self.project, "notes").status


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


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
        adopt(desk.project, seen_before, roots=desk.roots, clock=clock)


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


def _until_it_works(desk: Desk, act: Callable[[], Change], allowed: tuple[bytes | None, ...]) -> int:
    """Cut the power at every step in turn; after each cut the live file must hold one of the allowed contents."""
    for at in range(1, 40):
        desk.disk = PowerCut(at)
        try:
            act()
        except StateError:
            live = desk.live.read_bytes() if desk.live.exists() else None
            assert live in allowed
            continue
        return at
    raise AssertionError("it never got through")


def test_a_crash_at_any_write_of_adopt_or_undo_can_be_finished_later(desk: Desk) -> None:
    desk.stage()
    steps = _until_it_works(desk, desk.adopt, (BEFORE, AFTER))
    assert steps > 6, "the cut must have struck before, within and after the swap"
    assert desk.live.read_bytes() == AFTER
    assert desk.status() == "adopted"
    _until_it_works(desk, desk.undo, (BEFORE, AFTER))
    assert desk.live.read_bytes() == BEFORE
    assert desk.status() == "undone"


def test_a_crash_while_a_created_file_is_removed_can_be_finished_later(desk: Desk) -> None:
    desk.live.unlink()
    desk.stage(before=None)
    desk.adopt()
    _until_it_works(desk, desk.undo, (AFTER, None))
    assert not desk.live.exists()
    assert desk.status() == "undone"


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

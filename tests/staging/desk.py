"""One project with a live skill, as a person would have it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from skillopt_sleep.domain.base import sha256_hex
from skillopt_sleep.domain.reports import Proposal
from skillopt_sleep.domain.skills import AddRule, EditOutcome
from skillopt_sleep.domain.verdicts import Decision, Verdict
from skillopt_sleep.staging import AllowedRoots, Change, Staged, adopt, find, stage, undo
from skillopt_sleep.store import Disk, Memory, ProjectFolder, StateHome
from tests.store.disks import Unsynced

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
    disk: Disk = field(default_factory=Unsynced)

    def __post_init__(self) -> None:
        self.live = self.root / "claude" / "skills" / "notes" / "SKILL.md"
        if not self.live.exists():
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
        after: bytes = AFTER,
        at: datetime = NOW,
    ) -> Proposal:
        journal = self.project.new_night(at)
        proposal = Proposal(
            id=f"notes-0000000{number}",
            night_id=journal.id,
            project=str(self.root),
            skill="notes",
            target=str(target or self.live),
            before_sha256=sha256_hex(before) if before is not None else None,
            after_sha256=sha256_hex(after),
            created_at=at,
            outcomes=(EditOutcome(edit=AddRule(text=RULE), status="applied", rule_id="r1"),),
            verdict=Verdict(decision=decision, reason="improved", explanation="Because."),
        )
        return stage(self.project, proposal, before, after)

    def adopt(self, *, unverified: bool = False, again: bool = True, staged: Staged | None = None) -> Change:
        chosen = staged or find(self.project, "notes")
        return adopt(self.project, chosen, roots=self.roots, unverified=unverified, again=again, clock=clock)

    def undo(self, name: str = "notes") -> Change:
        chosen = find(self.project, name, prefer="adopted")
        return undo(self.project, chosen, roots=self.roots, memory=self.memory, clock=clock)

    def adopt_unless_done(self) -> None:
        """The next call after a crash; an adoption that is already complete need not be repeated."""
        if self.ledger_kinds()[-1] != "adopted":
            self.adopt()

    def undo_unless_done(self) -> None:
        if self.ledger_kinds()[-1] != "undone":
            undo(self.project, find(self.project, "notes"), roots=self.roots, memory=self.memory, clock=clock)

    def ledger_kinds(self) -> list[str]:
        return [entry.kind for entry in self.project.ledger.entries()]

    def status(self) -> str:
        return find(self.project, "notes").status

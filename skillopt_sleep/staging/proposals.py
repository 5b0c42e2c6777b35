"""Proposals on disk."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from skillopt_sleep.domain.base import sha256_hex
from skillopt_sleep.domain.errors import ConflictError, StateError, UnknownName
from skillopt_sleep.domain.reports import LedgerEntry, Proposal, ProposalStatus
from skillopt_sleep.skilldoc import unified_diff
from skillopt_sleep.store import ProjectFolder, private_folder, write_atomic


@dataclass(frozen=True, slots=True)
class Staged:
    """A proposal with its files and its state."""

    proposal: Proposal
    folder: Path
    status: ProposalStatus
    intent: str | None = None
    """An `adopting` or `undoing` entry that no later entry completes: a crash came in between."""

    @property
    def target(self) -> Path:
        return Path(self.proposal.target)

    @property
    def diff(self) -> str:
        return unified_diff(self.before() or b"", self.after(), self.target.name)

    def before(self) -> bytes | None:
        """The bytes that adopting replaces, checked against the proposal; None where adopting creates the file."""
        if self.proposal.before_sha256 is None:
            return None
        return self._checked("before.md", self.proposal.before_sha256)

    def after(self) -> bytes:
        """The proposed bytes, checked against the proposal."""
        return self._checked("after.md", self.proposal.after_sha256)

    def _checked(self, name: str, sha256: str) -> bytes:
        try:
            data = (self.folder / name).read_bytes()
        except OSError as error:
            raise StateError(f"{self.folder / name} cannot be read: {error.strerror or error}.") from error
        if sha256_hex(data) != sha256:
            raise ConflictError(
                f"{self.folder / name} is not what was staged: its hash differs.",
                hint="Run the night again; a changed proposal is not adopted.",
            )
        return data


def stage(project: ProjectFolder, proposal: Proposal, before: bytes | None, after: bytes) -> Proposal:
    """Lay a proposal beside its night. `proposal.json` comes last, so that a half-written proposal does not exist."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", proposal.skill).strip(".-") or "skill"
    folder = private_folder(project.nights_path / proposal.night_id / "proposals" / f"{name}-{proposal.id[-8:]}")
    if before is not None:
        write_atomic(folder / "before.md", before, disk=project.disk)
    write_atomic(folder / "after.md", after, disk=project.disk)
    diff = unified_diff(before or b"", after, Path(proposal.target).name)
    write_atomic(folder / "diff.patch", diff.encode("utf-8"), disk=project.disk)
    write_atomic(folder / "proposal.json", proposal.model_dump_json(indent=2).encode("utf-8"), disk=project.disk)
    project.ledger.append(
        LedgerEntry(kind="staged", at=proposal.created_at, night_id=proposal.night_id, proposal_id=proposal.id)
    )
    return proposal


def list_proposals(project: ProjectFolder) -> tuple[Staged, ...]:
    """All readable proposals, newest night first."""
    history = project.ledger.entries()
    return tuple(
        _with_state(proposal, folder, history)
        for night in project.night_folders()
        for folder in _folders(night / "proposals")
        if (proposal := _read(folder)) is not None
    )


def count_unreadable(project: ProjectFolder) -> int:
    """How many proposal folders hold no readable proposal: staging was cut short, or the file was damaged."""
    return sum(
        1 for night in project.night_folders() for folder in _folders(night / "proposals") if _read(folder) is None
    )


def find(project: ProjectFolder, name: str) -> Staged:
    """A proposal by its id, by the beginning of it, or by the name of its skill (then the newest).

    Raises `UnknownName` with the nearest id, and `ConflictError` for a beginning that several ids share.
    """
    found = list_proposals(project)
    exact = [staged for staged in found if staged.proposal.id == name] or [
        staged for staged in found if staged.proposal.skill == name
    ]
    if exact:
        return exact[0]
    beginning = [staged for staged in found if name and staged.proposal.id.startswith(name)]
    if len(beginning) > 1:
        ids = ", ".join(staged.proposal.id for staged in beginning)
        raise ConflictError(f"Several proposals begin with {name!r}: {ids}.", hint="Say more of the id.")
    if beginning:
        return beginning[0]
    known = [staged.proposal.id for staged in found]
    raise UnknownName("proposal", name, known, hint="" if known else "Nothing is staged in this project yet.")


def state_of(history: Sequence[LedgerEntry], proposal_id: str) -> tuple[ProposalStatus, str | None]:
    """Status of a proposal and its unfinished intent, from the project's history."""
    status: ProposalStatus = "staged"
    intent: str | None = None
    for entry in history:
        if entry.proposal_id != proposal_id:
            continue
        if entry.kind in ("adopting", "undoing"):
            intent = entry.kind
        elif entry.kind in ("staged", "adopted", "undone", "dismissed"):
            status, intent = entry.kind, None
    return status, intent


def _with_state(proposal: Proposal, folder: Path, history: Sequence[LedgerEntry]) -> Staged:
    status, intent = state_of(history, proposal.id)
    return Staged(proposal, folder, status, intent)


def _folders(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(entry for entry in path.iterdir() if entry.is_dir())


def _read(folder: Path) -> Proposal | None:
    try:
        return Proposal.model_validate_json((folder / "proposal.json").read_bytes())
    except (OSError, ValidationError):
        return None

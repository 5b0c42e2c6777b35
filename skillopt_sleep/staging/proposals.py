"""Proposals on disk: one folder each, and the state that ledger and live file give them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from skillopt_sleep.domain.base import sha256_hex
from skillopt_sleep.domain.errors import ConflictError, InputError, NothingToDo, StateError, UnknownName
from skillopt_sleep.domain.reports import LedgerEntry, Proposal, ProposalStatus
from skillopt_sleep.store import ProjectFolder, live_sha256, private_folder, subfolders, write_atomic

Intent = Literal["adopting", "undoing"]
MANIFEST = "proposal.json"


@dataclass(frozen=True, slots=True)
class Staged:
    """A proposal with its files and its state."""

    proposal: Proposal
    folder: Path
    status: ProposalStatus
    intent: Intent | None = None
    """An entry that no later entry completes: a crash came in between. `status` is what the live file makes of it."""
    genuine: bool = True
    """Whether the manifest is the one that was staged."""

    @property
    def target(self) -> Path:
        return Path(self.proposal.target)

    @property
    def diff(self) -> str:
        from skillopt_sleep.skilldoc import (
            unified_diff,  # listing proposals should not load what only reading one needs
        )

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
    """Lay a proposal beside its night. `proposal.json` comes last, so that a half-written proposal does not exist.

    Staging the same proposal again (a night that is resumed) replaces it while nobody has decided on it. Others that
    wait for the same file are superseded: only one of them could be adopted. Raises
    `NothingToDo` where nothing would change, and `ConflictError` where the proposal was decided on already.
    """
    hashes = (None if before is None else sha256_hex(before), sha256_hex(after))
    if hashes != (proposal.before_sha256, proposal.after_sha256):
        raise ValueError(f"proposal {proposal.id} was made from other bytes than it is staged with")
    if before == after:
        raise NothingToDo(f"The proposal for {proposal.skill} would change nothing.")
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", proposal.skill).strip(".-")[:60] or "skill"
    folder = private_folder(project.nights_path / proposal.night_id / "proposals" / f"{name}-{proposal.id[-8:]}")
    known = load(folder, project.ledger.entries())
    if known is not None and known.status != "staged":
        raise ConflictError(f"Proposal {proposal.id} is {known.status} already; it is not staged again.")
    manifest = proposal.model_dump_json(indent=2).encode("utf-8")
    from skillopt_sleep.skilldoc import unified_diff

    diff = unified_diff(before or b"", after, Path(proposal.target).name)
    files = {"before.md": before, "after.md": after, "diff.patch": diff.encode("utf-8"), MANIFEST: manifest}
    for file, data in files.items():
        if data is not None:
            write_atomic(folder / file, data, disk=project.disk)
    project.ledger.append(
        LedgerEntry(
            kind="staged",
            at=proposal.created_at,
            night_id=proposal.night_id,
            proposal_id=proposal.id,
            sha256=sha256_hex(manifest),
        )
    )
    for other in list_proposals(project):
        if other.status == "staged" and other.target == Path(proposal.target) and other.proposal.id != proposal.id:
            project.ledger.append(
                LedgerEntry(
                    kind="superseded",
                    at=proposal.created_at,
                    night_id=other.proposal.night_id,
                    proposal_id=other.proposal.id,
                    detail=f"by {proposal.id}",
                )
            )
    return proposal


def waiting_twin(project: ProjectFolder, proposal: Proposal) -> Proposal | None:
    """A proposal that waits already and would change the same file in the same way."""
    for other in list_proposals(project):
        same = (other.proposal.target, other.proposal.before_sha256, other.proposal.after_sha256)
        if other.status == "staged" and same == (proposal.target, proposal.before_sha256, proposal.after_sha256):
            return other.proposal
    return None


def list_proposals(project: ProjectFolder) -> tuple[Staged, ...]:
    """All readable proposals, newest first."""
    history = project.ledger.entries()
    found = [
        staged
        for night in project.night_folders()
        for folder in subfolders(night / "proposals")
        if (staged := load(folder, history)) is not None
    ]
    return tuple(sorted(found, key=lambda s: (s.proposal.created_at, s.proposal.night_id), reverse=True))


def count_unreadable(project: ProjectFolder) -> int:
    """How many proposal folders hold no readable proposal: staging was cut short, or the file was damaged."""
    return sum(
        load(folder, ()) is None for night in project.night_folders() for folder in subfolders(night / "proposals")
    )


def find(project: ProjectFolder, name: str, *, prefer: ProposalStatus | None = None) -> Staged:
    """A proposal by its id, by the beginning of it, or by the name of its skill.

    Of several for one skill it is the newest with status `prefer`, else the newest. Raises `UnknownName` with the
    nearest id or skill, and `ConflictError` for a beginning that several ids share.
    """
    found = list_proposals(project)
    exact = [staged for staged in found if staged.proposal.id == name] or [
        staged for staged in found if staged.proposal.skill == name
    ]
    if exact:
        return next((staged for staged in exact if staged.status == prefer), exact[0])
    beginning = [staged for staged in found if name and staged.proposal.id.startswith(name)]
    if len(beginning) > 1:
        ids = ", ".join(staged.proposal.id for staged in beginning)
        raise ConflictError(f"Several proposals begin with {name!r}: {ids}.", hint="Say more of the id.")
    if beginning:
        return beginning[0]
    known = {staged.proposal.id for staged in found} | {staged.proposal.skill for staged in found}
    raise UnknownName("proposal", name, known, hint="" if known else "Nothing is staged in this project yet.")


def load(folder: Path, history: Sequence[LedgerEntry]) -> Staged | None:
    """The proposal in a folder with its present state; None where its manifest cannot be read."""
    try:
        manifest = (folder / MANIFEST).read_bytes()
        proposal = Proposal.model_validate_json(manifest)
    except (OSError, ValidationError):
        return None
    mine = [entry for entry in history if entry.proposal_id == proposal.id]
    status, intent = _state(mine, proposal)
    stamps = [entry.sha256 for entry in mine if entry.kind == "staged" and entry.sha256]
    return Staged(proposal, folder, status, intent, genuine=not stamps or stamps[-1] == sha256_hex(manifest))


def _state(history: Sequence[LedgerEntry], proposal: Proposal) -> tuple[ProposalStatus, Intent | None]:
    """Status and unfinished intent. Where a crash left an intent without its completion, the live file decides."""
    status: ProposalStatus = "staged"
    intent: Intent | None = None
    for entry in history:
        match entry.kind:
            case "adopting" | "undoing":
                intent = entry.kind
            case "staged" | "adopted" | "undone" | "dismissed" | "superseded":
                status, intent = entry.kind, None
    if intent is None:
        return status, None
    try:
        live = live_sha256(Path(proposal.target))
    except InputError:  # a live file that cannot be read decides nothing: as if the intent had not been
        return status, intent
    if intent == "adopting" and live == proposal.after_sha256:
        return "adopted", intent
    if intent == "undoing" and live == proposal.before_sha256:
        return "undone", intent
    return status, intent

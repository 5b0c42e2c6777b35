"""The only code that changes a person's skill files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from skillopt_sleep.domain.errors import ConflictError, StateError
from skillopt_sleep.domain.reports import LedgerEntry, LedgerKind, Proposal
from skillopt_sleep.domain.skills import added_rules
from skillopt_sleep.staging.proposals import Staged, list_proposals, load
from skillopt_sleep.staging.roots import AllowedRoots
from skillopt_sleep.store import (
    Memory,
    ProjectFolder,
    compare_and_swap,
    live_sha256,
    make_folders,
    missing_folders,
    remove_if_empty,
    short,
)

Clock = Callable[[], datetime]
PUBLIC_FILE, PUBLIC_FOLDER = 0o644, 0o777
"""Permissions of what adopting creates: a skill is a document like its neighbours, not private state."""


@dataclass(frozen=True, slots=True)
class Change:
    """What was done to a live file."""

    target: Path
    sha256: str | None
    """Hash of the live file now; None where it does not exist."""
    remembered: tuple[str, ...] = ()
    """Rules that will not be proposed again."""


def adopt(
    project: ProjectFolder,
    staged: Staged,
    *,
    roots: AllowedRoots,
    unverified: bool = False,
    again: bool = False,
    clock: Clock,
) -> Change:
    """Put the proposed bytes into the live file. What was undone is adopted again only with `again`.

    Raises `ConflictError`, having written nothing, when the live file is not what the proposal was made from, when its
    path is not allowed, when the staged files were changed, when the proposal was decided on already, or when the gate
    did not accept it and `unverified` was not said; `StateError` when the file cannot be written.
    """
    with project.swap_lock():
        staged = _reloaded(project, staged)
        proposal = staged.proposal
        real = _allowed(staged, roots)
        if staged.status == "adopted" and staged.intent:  # a crash: the new bytes are live, only the entry is missing
            _note(project, "adopted", proposal, clock)
            return Change(staged.target, proposal.after_sha256)
        _refuse_decided(staged)
        if staged.status == "undone" and not again:
            raise ConflictError(
                f"Proposal {proposal.id} was undone, and its rules are not wanted any more.",
                hint="If they are wanted after all, say so: `adopt --again`.",
            )
        if proposal.verdict.decision != "accept" and not unverified:
            raise ConflictError(
                f"The gate did not confirm proposal {proposal.id}: {proposal.verdict.explanation}",
                hint="Look at it with `show`. To adopt it all the same, say so: `adopt --unverified`.",
            )
        staged.before()  # the backup that an undo will need: it must be whole before anything is replaced
        after, live = staged.after(), live_sha256(real)
        if live != proposal.before_sha256:
            raise _changed(
                staged.target,
                "the proposal was made",
                live,
                proposal.before_sha256,
                "Run the night again on the new text.",
            )
        _require_writable(real)
        _note(project, "adopting", proposal, clock, created=missing_folders(real.parent))
        make_folders(real.parent, mode=PUBLIC_FOLDER, disk=project.disk)
        compare_and_swap(real, after, expected=proposal.before_sha256, mode=PUBLIC_FILE, disk=project.disk)
        _note(project, "adopted", proposal, clock)
        return Change(staged.target, proposal.after_sha256)


def undo(project: ProjectFolder, staged: Staged, *, roots: AllowedRoots, memory: Memory, clock: Clock) -> Change:
    """Put the bytes back that were there before; a file that adopting created goes away again, with its empty folders.

    Raises `ConflictError`, having written nothing, when the proposal is not adopted, or when the live file was changed
    since: a later edit by hand is never lost.
    """
    with project.swap_lock():
        staged = _reloaded(project, staged)
        proposal = staged.proposal
        real = _allowed(staged, roots)
        if not (staged.status == "undone" and staged.intent):  # else a crash: the old bytes are live again
            _swap_back(project, staged, real, clock)
        if proposal.before_sha256 is None:
            for folder in _created_by(project, proposal):
                remove_if_empty(folder, disk=project.disk)
        rules = _turn_down(staged, memory, "undone", clock)
        _note(project, "undone", proposal, clock)
        return Change(staged.target, proposal.before_sha256, rules)


def dismiss(project: ProjectFolder, staged: Staged, *, memory: Memory, clock: Clock) -> Change:
    """Turn a proposal down. Raises `ConflictError` for one that is adopted (undo it first) or dismissed already."""
    with project.swap_lock():
        staged = _reloaded(project, staged)
        _refuse_decided(staged)
        rules = _turn_down(staged, memory, "dismissed", clock)
        _note(project, "dismissed", staged.proposal, clock)
        return Change(staged.target, None, rules)


def _swap_back(project: ProjectFolder, staged: Staged, real: Path, clock: Clock) -> None:
    proposal = staged.proposal
    if staged.status != "adopted":
        raise ConflictError(f"Proposal {proposal.id} is not adopted, so there is nothing to undo.")
    before, live = staged.before(), live_sha256(real)
    if live != proposal.after_sha256:
        raise _changed(staged.target, "it was adopted", live, proposal.after_sha256, _way_back(project, staged, live))
    _require_writable(real)
    _note(project, "undoing", proposal, clock)
    compare_and_swap(real, before, expected=proposal.after_sha256, mode=PUBLIC_FILE, disk=project.disk)


def _reloaded(project: ProjectFolder, staged: Staged) -> Staged:
    """The proposal as it is now, with the lock held: what was found earlier may have been decided on since."""
    fresh = load(staged.folder, project.ledger.entries())
    if fresh is None or fresh.proposal.id != staged.proposal.id:
        raise ConflictError(
            f"The manifest of proposal {staged.proposal.id} is gone or damaged.", hint=str(staged.folder)
        )
    return fresh


def _allowed(staged: Staged, roots: AllowedRoots) -> Path:
    real = roots.check(staged.target)
    if not staged.genuine:
        raise ConflictError(
            f"{staged.target} is not changed: the manifest of proposal {staged.proposal.id} is not what was staged.",
            hint=f"Somebody edited {staged.folder / 'proposal.json'}. Run the night again.",
        )
    return real


def _refuse_decided(staged: Staged) -> None:
    id_ = staged.proposal.id
    if staged.status == "adopted":
        raise ConflictError(f"Proposal {id_} is adopted already.", hint=f"`skillopt-sleep undo {id_}` takes it back.")
    if staged.status == "dismissed":
        raise ConflictError(f"Proposal {id_} is dismissed already.", hint="A new night may find more.")
    if staged.status == "superseded":
        raise ConflictError(
            f"Proposal {id_} was superseded: a later night proposed something else for the same file.",
            hint="`skillopt-sleep status` shows what waits.",
        )


def _require_writable(real: Path) -> None:
    """A rename would replace a write-protected file without asking; whoever protected it meant something by it."""
    if real.exists() and not real.stat().st_mode & 0o222:
        raise StateError(f"{real} is write-protected.", hint="Make it writable, then try again.")


def _created_by(project: ProjectFolder, proposal: Proposal) -> list[Path]:
    """Folders that adopting this proposal made, innermost first."""
    entries = project.ledger.entries()
    made = {Path(name) for entry in entries if entry.proposal_id == proposal.id for name in entry.created}
    return sorted(made, key=lambda folder: len(folder.parts), reverse=True)


def _turn_down(staged: Staged, memory: Memory, reason: Literal["undone", "dismissed"], clock: Clock) -> tuple[str, ...]:
    proposal = staged.proposal
    rules = added_rules(proposal.outcomes)
    memory.turn_down(proposal.skill, rules, reason=reason, at=clock(), proposal_id=proposal.id)
    return rules


def _note(
    project: ProjectFolder, kind: LedgerKind, proposal: Proposal, clock: Clock, *, created: tuple[Path, ...] = ()
) -> None:
    folders = tuple(str(folder) for folder in created)
    project.ledger.append(
        LedgerEntry(kind=kind, at=clock(), night_id=proposal.night_id, proposal_id=proposal.id, created=folders)
    )


def _way_back(project: ProjectFolder, staged: Staged, live: str | None) -> str:
    """What to do about a live file that is not what was adopted."""
    for other in list_proposals(project):
        if other.status == "adopted" and other.target == staged.target and other.proposal.after_sha256 == live:
            return f"Proposal {other.proposal.id} was adopted on top of it: undo that one first."
    return f"Put your change aside first; the text from before the adoption is {staged.folder / 'before.md'}."


def _changed(target: Path, since: str, live: str | None, expected: str | None, hint: str) -> ConflictError:
    return ConflictError(
        f"{target} has changed since {since}: it is {short(live)} now, and was {short(expected)} then.",
        hint=f"Nothing was written. {hint}",
    )

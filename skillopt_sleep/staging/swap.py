"""The only code that changes a person's skill files."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from skillopt_sleep.domain.base import sha256_hex
from skillopt_sleep.domain.errors import ConflictError, InputError
from skillopt_sleep.domain.reports import LedgerEntry, LedgerKind, Proposal
from skillopt_sleep.domain.skills import added_rules
from skillopt_sleep.staging.proposals import Staged, state_of
from skillopt_sleep.staging.roots import AllowedRoots
from skillopt_sleep.store import Memory, ProjectFolder, private_folder, write_atomic
from skillopt_sleep.store.atomic import remove

Clock = Callable[[], datetime]
PUBLIC_FILE = 0o644
"""Permissions of a skill file that adopting creates: it is a document like its neighbours, not private state."""


@dataclass(frozen=True, slots=True)
class Change:
    """What was done to a live file."""

    target: Path
    sha256: str | None
    """Hash of the live file now; None where it does not exist."""
    remembered: tuple[str, ...] = ()
    """Rules that will not be proposed again."""


def adopt(
    project: ProjectFolder, staged: Staged, *, roots: AllowedRoots, unverified: bool = False, clock: Clock
) -> Change:
    """Put the proposed bytes into the live file.

    Raises `ConflictError`, having written nothing, when the live file is not what the proposal was made from, when its
    path is not allowed, when the staged files were changed, when the proposal is adopted or dismissed already, or when
    the gate did not accept it and `unverified` was not said.
    """
    proposal = staged.proposal
    status, intent = state_of(project.ledger.entries(), proposal.id)
    if status in ("adopted", "dismissed"):
        raise ConflictError(f"Proposal {proposal.id} is {status} already.", hint=_next_step(status, proposal.id))
    if proposal.verdict.decision != "accept" and not unverified:
        raise ConflictError(
            f"The gate did not confirm proposal {proposal.id}: {proposal.verdict.explanation}",
            hint="Look at it with `show`. To adopt it all the same, say so: `adopt --unverified`.",
        )
    real, before, after = roots.check(staged.target), staged.before(), staged.after()
    live = _live_hash(real)
    if intent == "adopting" and live == proposal.after_sha256:
        _note(project, "adopted", proposal, clock)  # a crash came after the swap: only the entry is missing
        return Change(staged.target, live)
    if live != proposal.before_sha256:
        raise _changed(staged.target, "the proposal was made", live, proposal.before_sha256)
    created = "" if before is not None or real.parent.exists() else str(real.parent)
    _note(project, "adopting", proposal, clock, detail=created)
    private_folder(real.parent)
    write_atomic(real, after, mode=PUBLIC_FILE, disk=project.disk)
    _note(project, "adopted", proposal, clock)
    return Change(staged.target, proposal.after_sha256)


def undo(project: ProjectFolder, staged: Staged, *, roots: AllowedRoots, memory: Memory, clock: Clock) -> Change:
    """Put the bytes back that were there before; a file that adopting created goes away again.

    Raises `ConflictError`, having written nothing, when the proposal is not adopted, or when the live file was changed
    since: a later edit by hand is never lost.
    """
    proposal = staged.proposal
    history = project.ledger.entries()
    status, intent = state_of(history, proposal.id)
    real, before = roots.check(staged.target), staged.before()
    live = _live_hash(real)
    adopted = status == "adopted" or (intent == "adopting" and live == proposal.after_sha256)
    if not adopted:
        raise ConflictError(f"Proposal {proposal.id} is not adopted, so there is nothing to undo.")
    if not (intent == "undoing" and live == proposal.before_sha256):
        if live != proposal.after_sha256:
            raise _changed(staged.target, "it was adopted", live, proposal.after_sha256)
        _note(project, "undoing", proposal, clock)
        if before is None:
            remove(real, disk=project.disk)
            _remove_created_folder(history, proposal, real.parent)
        else:
            write_atomic(real, before, disk=project.disk)
    rules = _turn_down(staged, memory, "undone", clock)
    _note(project, "undone", proposal, clock)
    return Change(staged.target, proposal.before_sha256, rules)


def dismiss(project: ProjectFolder, staged: Staged, *, memory: Memory, clock: Clock) -> Change:
    """Turn a proposal down. Raises `ConflictError` for one that is adopted (undo it first) or dismissed already."""
    status, _ = state_of(project.ledger.entries(), staged.proposal.id)
    if status in ("adopted", "dismissed"):
        raise ConflictError(
            f"Proposal {staged.proposal.id} is {status} already.", hint=_next_step(status, staged.proposal.id)
        )
    rules = _turn_down(staged, memory, "dismissed", clock)
    _note(project, "dismissed", staged.proposal, clock)
    return Change(staged.target, None, rules)


def _live_hash(real: Path) -> str | None:
    try:
        return sha256_hex(real.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{real} cannot be read: {error.strerror or error}.") from error


def _turn_down(staged: Staged, memory: Memory, reason: Literal["undone", "dismissed"], clock: Clock) -> tuple[str, ...]:
    rules = added_rules(staged.proposal.outcomes)
    memory.turn_down(staged.proposal.skill, rules, reason=reason, at=clock())
    return rules


def _note(project: ProjectFolder, kind: LedgerKind, proposal: Proposal, clock: Clock, *, detail: str = "") -> None:
    project.ledger.append(
        LedgerEntry(kind=kind, at=clock(), night_id=proposal.night_id, proposal_id=proposal.id, detail=detail)
    )


def _remove_created_folder(history: tuple[LedgerEntry, ...], proposal: Proposal, folder: Path) -> None:
    """Remove the skill's folder where adopting had to create it, and nobody has put anything else into it."""
    created = {e.detail for e in history if e.kind == "adopting" and e.proposal_id == proposal.id and e.detail}
    if str(folder) in created:
        with contextlib.suppress(OSError):  # not empty, or gone already: both are fine
            folder.rmdir()


def _changed(target: Path, since: str, live: str | None, expected: str | None) -> ConflictError:
    return ConflictError(
        f"{target} has changed since {since}: it is {_short(live)} now, and was {_short(expected)} then.",
        hint="Nothing was written. Run the night again for a proposal on the new text, or put your change aside first.",
    )


def _short(sha256: str | None) -> str:
    return "absent" if sha256 is None else sha256[:12]


def _next_step(status: str, proposal_id: str) -> str:
    return (
        f"`skillopt-sleep undo {proposal_id}` takes it back." if status == "adopted" else "A new night may find more."
    )

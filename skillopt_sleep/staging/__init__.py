"""Proposals: stage, list, find, adopt, undo, dismiss. Nothing else changes a person's skill files.

    stage(project, proposal, before, after)      lay it beside its night: before.md, after.md, diff.patch, proposal.json
    staged = find(project, "1f2e" or "notes")    by id, beginning of an id, or skill; `list_proposals` gives all
    adopt(project, staged, roots=..., clock=...)             compare-and-swap on the live file's SHA-256
    undo(project, staged, roots=..., memory=..., clock=...)  the same swap backwards; its rules do not come back
    dismiss(project, staged, memory=..., clock=...)          turned down without ever being live

A change of a live file is three steps: an intent (`adopting`, `undoing`) in the ledger, the atomic swap, and the
completion (`adopted`, `undone`). Wherever a crash strikes, the live file holds the old bytes or the new ones, and
ledger and file together say which: an intent whose new bytes are live did happen, any other did not. The next call
finishes the one or begins the other anew.
"""

from skillopt_sleep.staging.proposals import Staged, count_unreadable, find, list_proposals, stage, waiting_twin
from skillopt_sleep.staging.roots import AllowedRoots
from skillopt_sleep.staging.swap import Change, adopt, dismiss, undo

__all__ = [
    "AllowedRoots",
    "Change",
    "Staged",
    "adopt",
    "count_unreadable",
    "dismiss",
    "find",
    "list_proposals",
    "stage",
    "undo",
    "waiting_twin",
]

"""Proposals: stage, find, adopt, undo, dismiss.

    stage    writes before.md, after.md, diff.patch and proposal.json into the night's folder
    adopt    compare-and-swap on the live file's SHA-256; before.md is the backup
    undo     the same swap backwards; the rules are remembered as not wanted
    dismiss  turns a proposal down

The ledger holds an intent entry before each swap, so after a crash at any point the disk decides: the live file has
either the old bytes or the new ones, and the next call finishes or begins anew.
"""

from skillopt_sleep.staging.proposals import Staged, count_unreadable, find, list_proposals, stage
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
]

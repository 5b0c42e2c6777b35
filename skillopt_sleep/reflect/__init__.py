"""Reflect: from what failed on the *training* tasks to edits of the skill's rules.

`evidence` says what the optimiser may know, `proposing` asks it, `screening` decides which of its edits may be tried.
The optimiser never sees a judge's pattern, nor anything that was read from a gate or test task.
"""

from skillopt_sleep.reflect.evidence import FailedAttempt, failures_of, requirements_of, typed_by_people
from skillopt_sleep.reflect.proposing import MOST_EDIT_TOKENS, reflect
from skillopt_sleep.reflect.screening import screen

__all__ = [
    "MOST_EDIT_TOKENS",
    "FailedAttempt",
    "failures_of",
    "reflect",
    "requirements_of",
    "screen",
    "typed_by_people",
]

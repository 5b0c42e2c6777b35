"""Exact statistics for few families: tests, intervals and sequential looks, in pure Python."""

from skillopt_sleep.stats.exact import holm, sign_flip_interval, sign_flip_p, wilson_interval
from skillopt_sleep.stats.sequential import SequentialSignFlip, pocock_spending, testable_by_looks

__all__ = [
    "SequentialSignFlip",
    "holm",
    "pocock_spending",
    "sign_flip_interval",
    "sign_flip_p",
    "testable_by_looks",
    "wilson_interval",
]

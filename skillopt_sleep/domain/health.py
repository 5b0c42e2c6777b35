"""What a look at one's own installation finds."""

from __future__ import annotations

from typing import Literal

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.verdicts import Verdict

State = Literal["ok", "warning", "problem", "skipped"]


class Finding(Frozen):
    """One thing that was looked at: what is so, and what to do about it."""

    about: str
    state: State
    text: str
    what_to_do: str = ""


class Noise(Frozen):
    """What two equal documents looked like."""

    families: int
    pairs: int
    """Pairs of attempts at the same task that both have a score."""
    missing_pairs: int
    flip_rate: float | None
    """Share of these pairs in which one attempt passed and the other did not; None without any pair."""
    flip_interval: tuple[float, float]
    """Two-sided 90 % interval of the flip rate, as if pairs were independent."""
    soft_difference: float | None
    """Mean absolute difference of the soft scores of a pair."""
    judged_twice: int
    """Replies that the judge scored a second time."""
    judge_flips: int
    """How many of them it then scored otherwise."""
    verdict: Verdict
    """What the gate says of the two equal documents. "Better beyond chance" would be a false alarm."""
    suggested_samples: int | None
    """Rollouts of each gate task that the noise calls for; None without any pair."""
    summary: str

"""Train, gate and test: which family lies in which slice."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from skillopt_sleep.domain.base import Frozen, sha256_hex

Slice = Literal["train", "gate", "test"]
SLICES: tuple[Slice, ...] = ("train", "gate", "test")


class SplitPolicy(Frozen):
    """Shares of families that go to each slice. The gate needs most: it is what a verdict rests on."""

    train: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.35
    gate: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.45

    @model_validator(mode="after")
    def _leaves_a_test_slice(self) -> SplitPolicy:
        if self.train + self.gate >= 1.0:
            raise ValueError("train and gate together must leave a share for the test slice")
        return self


class KnownFamily(Frozen):
    """A family met before. Kept across nights, so that a family never changes its slice when transcripts vanish."""

    id: str
    leader: str
    """The normalised wording that later prompts are compared with."""
    group: str


def slice_of(family: str, policy: SplitPolicy) -> Slice:
    """The slice of a family: a pure function of its id, so it is the same in every night and every order."""
    position = int(sha256_hex(f"slice:{family}")[:12], 16) / 16**12
    if position < policy.train:
        return "train"
    return "gate" if position < policy.train + policy.gate else "test"

"""How strong a simulated model is, in numbers.

Influences on obedience are in logits, so that they simply add up: +1 turns 50 % into 73 %, and 88 % into 95 %.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from skillopt_sleep.domain.errors import UnknownName

Strength = Literal["weak", "mid", "strong"]


@dataclass(frozen=True, slots=True)
class Temperament:
    """Habits of a model as follower and as optimiser."""

    concrete: float
    """Logits of obeying one concrete instruction on a request of average difficulty."""
    vague: float
    """The same for an instruction without a name, a number or a quotation."""
    example: float
    """Added where the instruction shows an example."""
    crowding: float
    """Lost for each doubling of the number of instructions."""
    torn: float
    """Lost where another instruction asks for the contrary; half of it where this one says that it prevails."""
    good_edits: float
    """Share of proposed edits that are concrete rules for a requirement that really failed."""
    vague_edits: float
    """Share that is well meant and says nothing. What remains is wrong, harmful or nonsense, in equal parts."""
    generalises: float
    """Probability of leaving aside what concerns one single request, where there is something general to fix."""


TEMPERAMENTS: Mapping[Strength, Temperament] = MappingProxyType(
    {
        "weak": Temperament(
            concrete=-0.5,
            vague=-1.7,
            example=0.3,
            crowding=0.25,
            torn=1.2,
            good_edits=0.40,
            vague_edits=0.24,
            generalises=0.2,
        ),
        "mid": Temperament(
            concrete=1.3,
            vague=-0.3,
            example=0.5,
            crowding=0.3,
            torn=0.9,
            good_edits=0.65,
            vague_edits=0.17,
            generalises=0.7,
        ),
        "strong": Temperament(
            concrete=3.5,
            vague=1.0,
            example=0.7,
            crowding=0.35,
            torn=0.7,
            good_edits=0.85,
            vague_edits=0.09,
            generalises=0.95,
        ),
    }
)


def strength_named(name: str) -> Strength:
    """The strength of that name. Raises `UnknownName`."""
    for strength in TEMPERAMENTS:
        if strength == name:
            return strength
    raise UnknownName("strength of the simulated model", name, TEMPERAMENTS)

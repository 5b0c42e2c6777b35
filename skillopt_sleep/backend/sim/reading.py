"""Statements in ordinary English -> what they ask for. What is not understood is ignored, as nonsense is."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from skillopt_sleep.backend.sim.aims import Instruction, Json, Line, Mention
from skillopt_sleep.backend.sim.phrases import counted, unquoted
from skillopt_sleep.backend.sim.quotes import Quote, illustrated, mask, read_quotes, shown_by
from skillopt_sleep.backend.sim.statements import Statement, statements

_VERB = (
    "use|using|include|write|add|begin|start|end|close|finish|keep|call|put|mention|give|state|say|answer|reply"
    "|respond|always|never|just|do|make|return|then"
)
_CLAUSE_END = re.compile(rf";|\s[—–-]{{1,2}}\s|,?\s+but\s+|,\s+(?:and\s+)?(?=(?:{_VERB})\b)", re.IGNORECASE)
_INSISTENT = re.compile(
    r"\b(?:always|every (?:reply|answer|response)|no exception|without exception|overrides?|takes? precedence"
    r"|whatever|regardless|even (?:if|where|when|though))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text asks for, and how many statements of it were not understood."""

    instructions: tuple[Instruction, ...]
    ignored: int


@lru_cache(maxsize=512)
def read(text: str) -> Reading:
    """Everything that is understood of a text. The same skill is read for every task, hence the memory."""
    found: list[Instruction] = []
    ignored = 0
    for statement in statements(text):
        understood = _understand(statement)
        found += understood
        ignored += not understood
    return Reading(tuple(found), ignored)


def _understand(statement: Statement) -> list[Instruction]:
    masked, quotes = mask(statement.text)
    example = statement.example
    found: list[Instruction] = []
    for clause in _CLAUSE_END.split(masked):
        quoted, shown = read_quotes(clause, quotes)
        example = example or shown
        found += [*quoted, *counted(clause), *unquoted(clause, is_quoting=bool(quoted))]
    if example is not None and not any(one.concrete for one in found):
        found = [Instruction(shown_by(example))]
    insistent = _INSISTENT.search(masked) is not None
    return [
        replace(
            one,
            aim=one.aim if example is None else illustrated(one.aim, example),
            example=example is not None,
            insistent=insistent,
        )
        for one in _one_json(found, quotes, example)
    ]


def _one_json(found: list[Instruction], quotes: list[Quote], example: str | None) -> list[Instruction]:
    """JSON, its keys and its sample as one instruction. Keys without JSON are nothing that can be obeyed."""
    shapes = [one for one in found if isinstance(one.aim, Json)]
    asked = next((one for one in shapes if one.aim == Json()), None)
    if asked is None:
        return [one for one in found if not isinstance(one.aim, Json) or one.aim.sample]
    keys = tuple(key for one in shapes if isinstance(one.aim, Json) for key in one.aim.keys)
    samples = [text for text in (example, *(quote.text for quote in quotes)) if text and text[:1] in ("{", "[")]
    whole = replace(asked, aim=Json(sample=samples[0] if samples else None, keys=keys))
    return [whole, *(one for one in found if not isinstance(one.aim, Json | Mention | Line))]

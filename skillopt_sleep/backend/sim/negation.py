"""Whether a clause asks for what follows, or forbids it."""

from __future__ import annotations

import re

_NEGATION = re.compile(
    r"\b(?:never|not(?!\s+only)|\w+n['’]t|avoid\w*|without(?!\s+exception)|omit\w*|skip\w*|leav(?:e|ing)\s+out|drop"
    r"|remove|refrain|forget|stop|neither|instead\s+of|rather\s+than"
    r"|no(?!\s+(?:more|less|fewer|longer|shorter|later|matter|need|one|exception)))\b",
    re.IGNORECASE,
)


def wanted(before: str) -> bool:
    """Whether what follows `before` in its clause is wanted.

    Each negation turns the meaning round once: "never finish without X" wants X.
    """
    return len(_NEGATION.findall(before)) % 2 == 0

"""Rules that would make an agent assert work that nobody knows it did ("state that the tests passed")."""

from __future__ import annotations

import re

_WORK = (
    r"(?:\w*tests?|test suite|suite|checks?|builds?|linters?|lint|type checks?|ci|pipeline|verification|benchmarks?)"
)
_SUCCESS = (
    r"(?:pass(?:ed|es|ing)?|succeed(?:ed|s)?|(?:is|are|was|were|be) (?:green|clean|successful)"
    r"|(?:was|were|been) (?:\w+ )?(?:verified|tested|executed|run))"
)
_DID = (
    r"(?:verified|(?:double-?)?checked|tested|ran|executed|confirmed|validated|reviewed|inspected|measured|benchmarked"
    r"|searched|consulted|looked|compiled|built|deployed|reproduced|audited)"
)
_ASSERTION = re.compile(
    rf"\b(?:you|i|we)(?:['’]ve| have)?(?: \w+ly| already| all| just)* {_DID}\b"
    r"|\b(?:you|i|we)(?:['’]ve| have) (?:\w+ )?(?:run|read)\b"
    rf"|\b{_WORK}:?(?: (?!that\b)\w+){{0,3}}? {_SUCCESS}\b"
    rf"|\b(?:it|they|everything|all) (?:\w+ )?{_SUCCESS}\b"
    r"|\b(?:was|were|has been|have been|is|are) (?:\w+ly |already )?(?:verified|tested|double-checked|validated)\b"
    r"|(?<=[\"“`'*])(?:verified|tested|double-checked)\b(?!\s*(?:by|on|with|:\s*(?:[<\[({]|yes or no|yes/no)))",
    re.IGNORECASE,
)
_CLAIMING = re.compile(
    r"\b(?:stat(?:e|ing)|say(?:ing)?|claim|report|declare|assert|announce|mention|note|write|tell|assure|confirm|include"
    r"|add|end|begin|start|close|finish|conclude|reply|answer)\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:never|not|\w+n['’]t|avoid\w*|without(?! exception)|refrain|forget|omit|skip|instead of|rather than)\b",
    re.IGNORECASE,
)
_OPEN_QUESTION = re.compile(
    r"\b(?:whether|unless|if|when|once|until|which|how|what|why|who|where|every|each|any|make sure|ensure"
    r"|check that)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")


def fabricated_claim(rule: str) -> str | None:
    """The words in which a rule makes the agent assert work done; None where it does not.

    A negation makes a rule honest ("never say that ..."), and so does asking ("state whether ...", "say which tests you
    ran"). A condition does only where it is about the work itself: "if you changed code, state that the tests passed"
    is still a claim. English only; a rule in another language is left to the person who reviews the proposal.
    """
    claiming = False
    for sentence in _SENTENCE.split(rule):
        claiming = claiming or _CLAIMING.search(sentence) is not None
        for assertion in _ASSERTION.finditer(sentence):
            before = sentence[: assertion.start()]
            negated = len(_NEGATION.findall(before)) % 2 == 1
            asking = _OPEN_QUESTION.search(before.rpartition(",")[2]) is not None
            if claiming and not negated and not asking:
                return assertion.group()
    return None

"""Limits of length in a sentence ("under 120 words") as checks."""

from __future__ import annotations

import re
from typing import Final, Literal

from skillopt_sleep.domain.checks import Check, MaxChars, MaxWords, MinChars, MinWords

_NUMBER_WORDS: Final[dict[str, int]] = {
    "ten": 10, "fifteen": 15, "twenty": 20, "twenty-five": 25, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
    "seventy": 70, "eighty": 80, "ninety": 90, "a hundred and fifty": 150, "one hundred and fifty": 150,
    "a hundred": 100, "one hundred": 100, "hundred": 100, "two hundred": 200, "three hundred": 300, "four hundred": 400,
    "five hundred": 500, "a thousand": 1000, "one thousand": 1000,
}  # fmt: skip
_SPELLED = "|".join(sorted(_NUMBER_WORDS, key=len, reverse=True))
_NUMBER = rf"(?P<number>\d{{1,3}}(?:[,.\u00a0'](?=\d{{3}}\b)\d{{3}})+|\d{{1,6}}|{_SPELLED})"
_WORDS = r"words?|wörtern?|worten?|palabras?|mots?|palavras?|слов\w*|个?词|単語|語"
_CHARS = r"char(?:acter)?s?|letters|zeichen|caracteres?|caractères?|символ\w*|знак\w*|个?字符?|文字"
_AMOUNT = rf"{_NUMBER}[\s-]*(?:(?P<words>{_WORDS})|(?P<chars>{_CHARS}))(?![a-zà-ÿа-я])"

Bound = Literal["max", "below", "min", "above"]

_BEFORE: Final[tuple[tuple[Bound, str], ...]] = (
    (
        "min",
        r"at least|(?:no|not) (?:fewer|less|shorter) than|(?:a )?minimum(?: of)?|min\.?|mindestens|wenigstens"
        r"|al menos|como mínimo|mínimo(?: de)?"
        r"|au moins|pelo menos|no mínimo|не менее|не меньше|минимум|至少|不少于|最少|少なくとも|最低",
    ),
    (
        "max",
        r"at (?:the )?most|(?:no|not|never) (?:be |go )?(?:any )?(?:more|longer|over|above|beyond|greater)(?: than)?"
        r"|(?:don't|do not|never|not|must not|mustn't|shouldn't|should not) (?:to )?(?:exceed|go over|go above"
        r"|go beyond|use more than|write more than|be (?:longer|more) than)"
        r"|(?:a )?max(?:imum)?\.?(?: length)?(?: of| is|:)?|up to|within|(?:limit|limited|keep|cut|trim|shorten"
        r"|reduce|stick|cap|restrict|condense)\b[^,;]{0,30}?\b(?:to|at)"
        r"|in(?: only| just)?|höchstens|maximal|nicht (?:mehr|länger) als|como máximo|máximo(?: de)?|no más de"
        r"|au (?:plus|maximum)|maximum(?: de)?|pas plus de"
        r"|no máximo|não mais (?:de|do que)|не (?:более|больше|длиннее)|максимум|до|不超过|不要超过|最多|不多于"
        r"|控制在|限制在|最大",
    ),
    (
        "below",
        r"under|below|(?:fewer|less|shorter|smaller) than|unter|weniger als|menos de|moins de|менее|меньше"
        r"|короче|少于|小于|低于",
    ),
    ("above", r"(?:must|should|needs? to|has to|write|use|want|be)\b[^,;]{0,20}? (?:more|longer) than"),
)
_AFTER: Final[tuple[tuple[Bound, str], ...]] = (
    ("min", r"(?:or more|minimum|min\b|at least|as a minimum|以上|o más|ou plus|ou mais|oder mehr|или больше)"),
    ("below", r"(?:未満|以下で?ない)"),
    (
        "max",
        r"(?:or (?:less|fewer|under)|at (?:the )?most|max(?:imum)?\b|tops|limit|以内|以下|まで|之内|内|o menos"
        r"|ou moins|ou menos|oder weniger|или меньше)",
    ),
)
_COMPLAINT = re.compile(
    r"\b(?:that|it|this|which|yours?|reply|answer) ?(?:was|is|were|has|had|'s|came)\b|\byou (?:wrote|gave|used"
    r"|sent|produced)\b"
)
_LIFTED = re.compile(
    r"\b(?:(?:don't|do not) (?:need|have) to|don't|do not|no need to|needn't)"
    r" (?:keep|limit|cut|trim|shorten|stay|restrict|worry)\b"
)


def limit_checks(sentence: str) -> list[Check]:
    """Checks of length in one folded sentence. "Under N" means N - 1 at most; "more than N", N + 1 at least.

    A length that only describes the reply ("that was at least 300 words") and a limit that is lifted give none.
    """
    found: list[Check] = []
    for match in re.finditer(_AMOUNT, sentence):
        part = re.split(r"[,，;:(]", sentence[: match.start()])[-1]
        number = _number(match.group("number"))
        bound = _bound(part, sentence[match.end() :])
        if bound is None or number is None or _LIFTED.search(part) or (_COMPLAINT.search(part) and "must" not in part):
            continue
        words = match.group("words") is not None
        if bound in ("max", "below"):
            top = number - (bound == "below")
            if top > 0:
                found.append(MaxWords(arg=top) if words else MaxChars(arg=top))
        else:
            floor = number + (bound == "above")
            found.append(MinWords(arg=floor) if words else MinChars(arg=floor))
    return found


def _bound(before: str, after: str) -> Bound | None:
    for bound, pattern in _AFTER:  # "120 words or more" outranks a loose "in" before it
        if re.match(rf"\s*[,(]?\s*{pattern}", after):
            return bound
    tail = r"\s*(?:about |around |roughly |the |a |an |de |von |of )?$"
    for bound, pattern in _BEFORE:
        if re.search(rf"(?:(?<!\w)|(?<=[\u3040-\u9fff]))(?:{pattern}){tail}", before):
            return bound
    return None


def _number(text: str) -> int | None:
    if text in _NUMBER_WORDS:
        return _NUMBER_WORDS[text]
    digits = re.sub(r"\D", "", text)
    return int(digits) if digits else None

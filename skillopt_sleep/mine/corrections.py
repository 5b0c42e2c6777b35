"""What a person's turn is within a conversation: a request, a correction of the last reply, praise, or chatter.

Word lists stand in `lexicon`; what a correction asks for is read by `grammar`.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from skillopt_sleep.mine import lexicon
from skillopt_sleep.mine.grammar import read_checks
from skillopt_sleep.mine.quotes import NAME, mask_names
from skillopt_sleep.mine.wording import fold, has_cjk, read_wording

TurnKind = Literal["request", "correction", "praise", "chatter"]

LONGEST_CORRECTION: Final = 1200
"""Characters above which a message is a request with material, not a remark on a reply."""
_CUE = re.compile(rf"(?:{'|'.join(lexicon.CUES)}|no {NAME})")
_PRAISE = re.compile(rf"{lexicon.PRAISE}(?![a-zà-ÿа-я])")
_LEADING_YES = re.compile(
    r"^(?:(?:ok(?:ay)?|thanks?|thank you|hm+|well|sorry|good|nice|great|ah|oh|hey|hi)\b[,.! ]+)+(?:but |and )?"
)
_SENTENCE = re.compile(r"(?:[.](?=\s|$)|[!?。！？\n])+\s*")
_ABOUT_REPLY = re.compile(
    r"^(?:please )?(?:(?:answer|reply|respond|return|output|give) (?:as|in|with|only|just|valid|me)\b|\w+ (?:it"
    r"|that|them|the (?:answer|reply|response|text|output)|your (?:answer|reply|response))\b)"
)
_QUESTION = re.compile(r"^(?:what|which|who|when)\b")
_INTERJECTION = re.compile(r"^(?:no|nope|wrong|nein|non|não|нет|不对|違う)[,.!:; ]+")


def read_turn(text: str, *, follows_reply: bool) -> TurnKind:
    """What a user turn is. Only a turn that follows a request and its reply can be a correction."""
    folded = " ".join(fold(text).split())
    bare = folded.strip(" .,!?¡¿。！？…:;)(")
    if not bare or bare.replace(",", "") in lexicon.CHATTER:
        return "chatter"
    if follows_reply and len(text) <= LONGEST_CORRECTION and _corrects(text):
        return "correction"
    if _PRAISE.match(bare) and len(bare) <= 120 and not _names_a_request(_LEADING_YES.sub("", folded)):
        return "praise"
    return "request" if _asks_something(bare) else "chatter"


def _corrects(text: str) -> bool:
    """A cue opens a sentence, or a sentence changes the reply, before any sentence makes a request of its own."""
    masked = fold(mask_names(text).text)
    checked = bool(read_checks(text))
    sentences = [sentence.strip() for sentence in _SENTENCE.split(masked) if sentence.strip()]
    for place, raw in enumerate(sentences):
        sentence = _LEADING_YES.sub("", raw)
        if _CUE.match(sentence):
            rest = _INTERJECTION.sub("", sentence)  # "no, write ... for the sign-up page" asks for something else
            return place > 0 or checked or rest == sentence or not _names_a_request(rest)
        edits = _opens_with_an_edit(sentence) and (checked or re.search(NAME, masked) is not None)
        if edits or _ABOUT_REPLY.match(sentence):
            return True
        if _names_a_request(sentence):
            return False
    return checked


def _opens_with_an_edit(sentence: str) -> bool:
    words = re.findall(r"\w+", sentence)
    first = words[1] if len(words) > 1 and words[0] == "please" else (words[0] if words else "")
    return first in lexicon.EDIT_VERBS


def _names_a_request(sentence: str) -> bool:
    """Whether a sentence asks for something of its own: a verb of requests and an object that is not the last reply."""
    if _ABOUT_REPLY.match(sentence):
        return False
    if _QUESTION.match(sentence):
        return True
    wording = read_wording(sentence)
    return len(wording.words) >= 2 and bool(wording.head) and wording.head[0] in lexicon.REQUEST_VERBS


def _asks_something(bare: str) -> bool:
    """At least two content words (three signs without spaces). A lone slash command steers the client."""
    if re.fullmatch(r"/[\w:-]+", bare):
        return False
    words = read_wording(bare).words
    return len(words) >= (3 if has_cjk(bare) and len(words) == len("".join(words)) else 2)

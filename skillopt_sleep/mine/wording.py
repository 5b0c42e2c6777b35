"""A prompt's wording, reduced to what tells requests apart: its content words and its head.

The *head* is the recurring part ("write the release notes"), the rest is what is concrete about this request ("... for
the login form"). Both are pure functions of the text, so they are the same in every night and in every order.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from skillopt_sleep.mine import lexicon

MAX_WORDS = 200
"""Content words that are looked at: a pasted document does not make a request any more recognisable."""
_HEAD_LIMIT = 8
_HEAD_FALLBACK = 4

_HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff々"
_KATAKANA = r"\u30a1-\u30fa\u30fc-\u30ff"
_HIRAGANA = r"\u3041-\u3096"
_CJK = _HAN + _KATAKANA + _HIRAGANA
_TOKEN = re.compile(
    rf"(?P<command>(?<!\S)/[a-z][\w:-]*(?!\S*/))"
    rf"|(?P<kata>[{_KATAKANA}]+)|(?P<hira>[{_HIRAGANA}]+)|(?P<han>[{_HAN}])"
    rf"|(?P<word>(?![{_CJK}])\w(?:(?:(?![{_CJK}])[\w.'/@+])*(?![{_CJK}])\w)?(?:-\d[\w.-]*\b)?)"
    rf"|(?P<mark>[.,:;!?()\[\]\"“”„«»`—–\n。，、：；！？「」『』（）]+)"
)
_CJK_SIGN = re.compile(rf"[{_CJK}]")
_FILLER = re.compile("|".join(lexicon.FILLER_PHRASES))
_LATIN_STOPS = lexicon.STOP_WORDS | (lexicon.BOUNDARIES - lexicon.KEPT_BOUNDARIES) | lexicon.WEAK_BOUNDARIES

_CJK_VERB = re.compile(
    r"撰写|起草|编写|写|总结|概括|翻译|解释|生成|创建|列出|分析|说明|回答|整理|准备|设计|比较|推荐|介绍"
    r"|作成|要約|まとめ|翻訳|説明|教え|書[いくけ]|比較"
)
_JA_TAIL = re.compile(r"(?:^|の|ための|について|に関する)((?:(?!の|について|に関する)[^を\s])+)を[^を]*$")


@dataclass(frozen=True, slots=True)
class Wording:
    """What is left of a prompt once politeness and grammar are gone."""

    words: tuple[str, ...]
    """Distinct content words, in order."""
    head: tuple[str, ...]
    """Content words of the recurring part."""
    bounded: bool
    """Whether a word or mark showed where the head ends; if not, the head may hold concrete words too."""


def fold(text: str) -> str:
    """Compatibility form, lower case, one kind of apostrophe: what all matching works on."""
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'").replace("ʼ", "'")


def has_cjk(text: str) -> bool:
    return _CJK_SIGN.search(text) is not None


def read_wording(text: str) -> Wording:
    """The wording of a prompt. Text without any content word gives an empty one."""
    plain = _FILLER.sub(" ", fold(text)).strip()
    for variant, verb in lexicon.CJK_SYNONYMS.items():
        plain = plain.replace(variant, verb)
    tokens = _tokens(plain)
    words = tuple(dict.fromkeys(word for kind, token in tokens if (word := _content(kind, token))))[:MAX_WORDS]
    first_sentence = re.split(r"[\n.!?。！？]+(?=\s|$)", plain.strip(), maxsplit=1)[0]
    if has_cjk(first_sentence):
        head = _cjk_head(re.split(r"[:,;，：；]", first_sentence)[0])
        if head:
            return Wording(words=words, head=head, bounded=True)
    head, bounded = _head(tokens)
    return Wording(words=words, head=head, bounded=bounded)


def label(head: tuple[str, ...]) -> str:
    """A head as the readable name of a group: words with spaces, CJK signs without."""
    text = ""
    for word in head:
        joined = not text or (has_cjk(text[-1]) and has_cjk(word[0]))
        text += word if joined else f" {word}"
    return text


def _content(kind: str, token: str) -> str:
    """The content word of a token, or "" where it carries none."""
    if kind == "mark":
        return ""
    if kind == "hira":  # short runs are particles and inflections
        return token if len(token) >= 3 else ""
    if kind in ("kata", "command"):
        return token
    if "'" in token:  # don't -> don, l'application -> application
        token = max(token.split("'"), key=len)
    token = lexicon.SYNONYMS.get(token, token)
    return "" if token in _LATIN_STOPS else token


def _head(tokens: list[tuple[str, str]]) -> tuple[tuple[str, ...], bool]:
    """Content words up to the first boundary; a weak boundary counts where no stronger one follows."""
    if tokens and tokens[0][0] == "command":
        return (tokens[0][1],), True
    if tokens and tokens[0][1] in lexicon.BOUNDARIES:  # "for the login form, write ...": the head comes after the comma
        comma = next((place for place, (_, token) in enumerate(tokens) if token == ","), -1)
        tokens = tokens[comma + 1 :]
    head: list[str] = []
    weak: int | None = None
    for kind, token in tokens:
        particle = token in lexicon.PARTICLES and len(head) == 1 and weak is None
        ends = kind == "mark" or token in lexicon.BOUNDARIES or any(sign.isdigit() for sign in token)
        if ends and not particle:
            if not head:
                continue
            if kind == "mark" and weak is not None:
                return tuple(head[:weak]), True
            return tuple(head), True
        if token in lexicon.WEAK_BOUNDARIES and head and weak is None:
            weak = len(head)
        word = _content(kind, token)
        if word and word not in head:
            head.append(word)
        if len(head) >= _HEAD_LIMIT:
            return (tuple(head[:weak]), True) if weak else (tuple(head[:_HEAD_FALLBACK]), False)
    return (tuple(head[:weak]), True) if weak else (tuple(head), False)


def _cjk_head(sentence: str) -> tuple[str, ...]:
    """Verb and object of a request without spaces between words; empty where no known verb is found.

    Chinese puts what is concrete before the verb (为 X 写 Y) or before 的 (写 X 的 Y); Japanese before の or について.
    """
    verbs = list(_CJK_VERB.finditer(sentence))
    if not verbs:
        return ()
    is_japanese = re.search(rf"[{_HIRAGANA}]", sentence) is not None
    verb = verbs[-1] if is_japanese else verbs[0]
    japanese_goal = _JA_TAIL.search(sentence[: verb.start()]) if is_japanese else None
    if japanese_goal:
        goal = japanese_goal.group(1)
    else:
        after = sentence[verb.end() :]
        goal = after.rsplit("的", 1)[-1] if "的" in after else after
    return tuple(dict.fromkeys(word for kind, token in _tokens(verb.group() + goal) if (word := _content(kind, token))))


def _tokens(text: str) -> list[tuple[str, str]]:
    return [(match.lastgroup or "", match.group()) for match in _TOKEN.finditer(text)]

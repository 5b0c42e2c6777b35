"""What a correction asks for, as checks: a small grammar over quoted names and numbers.

Each sentence is read from name to name. The words before a name (back to the name before it) and after it tell what is
asked of it; a negation counts only where it governs that name. What the grammar does not understand gives no check:
a missed check costs a little learning, a wrong one teaches the opposite of what the person said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from skillopt_sleep.domain.checks import (
    Check,
    Contains,
    EndsWith,
    Heading,
    JsonValid,
    NotContains,
    SectionPresent,
    StartsWith,
    ToolCalled,
)
from skillopt_sleep.mine.limits import limit_checks
from skillopt_sleep.mine.quotes import NAME, Masked, mask_names
from skillopt_sleep.mine.wording import fold

Kind = Literal["tool", "section", "starts", "ends", "contains", "banned"]

_SECTION_NOUN: Final = (
    r"(?:(?:sub)?sections?|headings?|headers?|headlines?|chapters?|abschnitt\w*|überschrift\w*|secci[oó]n(?:es)?"
    r"|apartados?|encabezados?"
    r"|rubriques?|titres?|seç(?:ão|ões)|títulos?|cabeçalhos?|раздел\w*|заголов\w+|章节|小节|标题|部分|一节|段落"
    r"|セクション|見出し|節)"
)
_NAMING: Final = (
    r"(?:must|should|be|to|needs?|has|headed|called|titled|named|entitled|labell?ed|with|the|a|an|title|heading"
    r"|name|of|that|is|says?|reads?|saying|reading"
    r"|mit|dem|der|titel|namens|llamad[ao]|titulad[ao]|con|el|la|título|intitulée?|appelée?|nommée?|avec|le|titre"
    r"|chamad[ao]"
    r"|intitulad[ao]|com|o|под|названием|с|заголовком|为|叫|名为|叫做|是|[:=(#-])"
)
_START: Final = (
    r"(?:\b(?:start|begin|open|lead)(?:s|ing|ning)?\b[^,;]{0,40}?\b(?:with|by)\b[^,;]{0,40}|\bfirst (?:line"
    r"|words?|sentence)\b[^,;]{0,20}"
    r"|\b(?:beginn\w*|fang\w*|start\w*)\b[^,;]{0,30}\bmit\b[^,;]{0,20}|\b(?:empi\w+|comien\w+"
    r"|inici\w+)\b[^,;]{0,30}\bcon\b[^,;]{0,20}"
    r"|\bcommenc\w+\b[^,;]{0,30}\b(?:par|avec)\b[^,;]{0,20}|\b(?:come\w+|inici\w+)\b[^,;]{0,30}\b(?:com"
    r"|por)\b[^,;]{0,20}"
    r"|\b(?:начин\w+|начн\w+)\b[^,;]{0,30}\b(?:с|со)\b[^,;]{0,20}|开头(?:要|必须|应该)?(?:是|写|用)?)\s*$"
)
_START_AFTER: Final = r"\s*(?:作为|来|为)?(?:开头|开始|起头)|\s*(?:から|で)(?:始|はじ|書き出)"
_END: Final = (
    r"(?:\b(?:end|finish|close|conclude|sign off)(?:s|ing|es)?\b[^,;]{0,40}?\b(?:with|by|in)\b[^,;]{0,40}"
    r"|\blast (?:line|words?|sentence)\b[^,;]{0,20}"
    r"|\b(?:ende\w*|schließ\w*|beende\w*)\b[^,;]{0,30}\bmit\b[^,;]{0,20}|\b(?:termin\w+"
    r"|acab\w+)\b[^,;]{0,30}\b(?:con|com|por)\b[^,;]{0,20}"
    r"|\b(?:termin|fin)\w+\b[^,;]{0,30}\b(?:par|avec)\b[^,;]{0,20}|\b(?:заканч\w+|заверш\w+"
    r"|законч\w+)\b[^,;]{0,30}|结尾(?:要|必须|应该)?(?:是|写|用)?)\s*$"
)
_END_AFTER: Final = r"\s*(?:作为|来|为)?(?:结尾|结束|收尾)|\s*で(?:終|締め)"
_CONTAIN: Final = (
    r"\b(?:mention|includ|contain|add|say|us(?:e|ing)\b|writ|put|quot|stat(?:e|ing)\b|hav(?:e|ing)\b|has\b|show"
    r"|cit(?:e|ing)\b|giv(?:e|ing)\b"
    r"|insert|append|referenc|refer|name\b|list|call|spell|need|want|ask|ensure\b|must be\b|should be\b"
    r"|has to be\b|keep\b|print|output|repeat"
    r"|erwähn|enthalt|enthält|füg|schreib|nenn|verwend|benutz|mencion|inclu|conten|conté|añad|agreg|escrib|pon\b"
    r"|usa|us[ea]s?\b|utiliz"
    r"|ajout|écri|emplo|dire\b|dis\b|cont[eé]|adicion|acrescent|escrev|упом|включ|содерж|добав|напиш|пиш|укаж|использ)"
    r"|提到|包含|包括|加上|加入|添加|写|注明|使用|含有|出现|用|说"
)
_CONTAIN_AFTER: Final = (
    r"\s*(?:を|と|は|が|という\S{0,4}を?)?(?:必ず)?(?:含め|書|入れ|追加|加え|使|言|記載|明記|触れ)"
    r"|[^,;.]{0,25}?\b(?:is|are|was|were) (?:still |again )?(?:missing|absent|not there)\b|[^,;.]{0,25}?\b(?:must"
    r"|should|needs? to|has to) (?:be (?:mentioned|included|there|present|in)|appear)"
    r"|\s*(?:fehlt|falta|manque|faltou|отсутствует|缺|がない|が抜け|goes\b|belongs\b)"
)

_ENSURE: Final = (
    # a doubled negation, and a complaint that something is missing, both ask for the thing
    r"\b(?:don't|do not|never|please don't) (?:you )?(?:ever )?(?:forget|omit|skip|miss|leave out|leave off|drop"
    r"|remove|fail)(?: to)?\b"
    r"|\b(?:you|it|that|this|they|he|there|i|we|reply|answer|response|text|note|notes) (?:\w+ )?"
    r"(?:didn't|did not|doesn't|does not|don't see|do not see|don't have|haven't|have not|hasn't|has not|had no"
    r"|has no|have no|see no|lacks?"
    r"|isn't|is no|wasn't|was no|are no|still has no)\b"
    r"|\byou (?:don't|do not|never)\b|\b(?:there's|there is|there are|there was) (?:still )?(?:no|not)\b"
    r"|\b(?:why )?(?:didn't|don't|doesn't) (?:you|it)\b"
    r"|\b(?:forgot|forgotten|missing|missed|lacks|lacking|left out|omitted|skipped|not only)\b(?: to\b)?"
    r"|\bvergiss nicht\b|\bvergessen\b|\bfehlt\b|\bno olvides\b|\b(?:te )?olvidaste\b|\bfalta\b"
    r"|\bn'oublie(?:z)? pas\b|\boublié\b|\bmanque\b"
    r"|\bnão (?:se )?esqueça\b|\besqueceu\b|\bfaltou\b|\bне (?:забудь|забывай)\w*|\bзабыл\w*|\bнет\b(?= раздел"
    r"| заголов)|别忘了?|不要忘(?:记|了)?|没有|忘了|缺少|漏了"
)
_BAN: Final = (
    r"\b(?:don't|do not|never|mustn't|must not|must never|shouldn't|should not|should never|stop|avoid|no longer"
    r"|not to|can't|cannot|may not|without"
    r"|leave out|remove|delete|drop|omit|skip|get rid of|ban|forbid|refrain from|why did you|why do you|free of"
    r"|no more|"
    r"nicht|niemals|nie|kein\w*|ohne|nunca|jamás|sin|evita\w*|no (?=us|di|menc|escrib|pon|inclu|añad)|jamais|sans"
    r"|pas|évite\w*|sem|evite|não|никогда|без|не)\b"
    r"|不要|别(?!忘)|不能|禁止|请勿|勿|不得|避免|不用|不应|不许|不准"
)
_BAN_AFTER: Final = r"\s*(?:を|は|と|という\S{0,4}を?)?\s*(?:\S{0,5}(?:ない(?!と|といけ)|ぬ|禁止))"
_BAN_CLOSE: Final = (
    r"(?:\b(?:instead of|rather than|without|avoid|not|no|nor|ohne|statt|anstatt|en (?:lugar|vez) de|au lieu de"
    r"|em vez de|вместо|а не)|而不是|不是)"
    r"\s*(?:(?:the|any|a|an|word|words|phrase|term|terms|saying|using|writing|as|like|das|wort|le|mot|la|palabra"
    r"|слово)\s+)*$"
)
_TOO_LATE: Final = (
    r"\b(?:you|it) (?:just |already |have |has |again )?(?:wrote|said|used|put|mentioned|included"
    r"|added|called|says|written|started|ended)\b"
)
_BARE_BAN: Final = r"(?:please )?(?:don't|do not|never|nie|nunca|jamais|никогда)"

_SEPARATOR = re.compile(
    r"(?:\s|,|，|、|;|/|&|\+|\b(?:and|or|nor|und|oder|y|o|et|ou|e|и|или|also|as well as|a|an|the|then"
    r"|in that order)\b|和|或|と|及び)*"
)
_SENTENCE = re.compile(r"(?:(?<!\bmax)(?<!\bmin)[.](?=\s|$)|[!?;。！？；\n])+")
_PART = re.compile(r"[,，:、–—()]|\b(?:but|so|because|and then|then|und dann|aber|pero|mais|mas|но|但|但是)\b")
_ANOTHER = re.compile(r"\b(?:one|another|others?)(?: (?:called|headed|titled|named))?\s*$")
_CARRIES_ON = re.compile(r"^\s*,?\s*(?:or|nor|oder|ni|ou|или|或)\b")

_JSON: Final = re.compile(
    r"\b(?:answer|reply|respond|return|output|give|send|write|format|produce|print|emit|use|be|as|in|only|valid"
    r"|pure|plain|just|said|want|wanted|need|expect"
    r"|asked for|antworte\w*|gib|responde\w*|réponds|répondez|responda|отвечай|ответ\w*)\b[^.;]{0,40}?\bjson\b"
    r"|\bjson (?:only|object|array|please)\b|json(?:格式|形式|で)"
    r"|^\W*json\W*$"
)
_JSON_ABOUT: Final = re.compile(
    r"\bjson (?:file|schema|parser|library|module|api|key|keys|field|fields|example|snippet|blob|column|support)\b"
)
_TOOL_UNQUOTED = re.compile(
    r"\b(?:use|using|call|calling|invoke|run)\b (?:\w+ ){0,2}?the (?P<tool>[a-z][\w.-]*) tool\b"
)


_USES: Final = re.compile(r"\b(?:use|using|call|calling|invoke|run|with|through|via|query)\b")
_KINDS: Final[tuple[tuple[Kind, re.Pattern[str], re.Pattern[str] | None], ...]] = (
    ("tool", re.compile(r"\btool,?\s*(?:called|named|is)?\s*$"), None),
    (
        "section",
        re.compile(rf"{_SECTION_NOUN}(?:\s*{_NAMING})*\s*$"),
        re.compile(rf"\s*-?\s*(?:的|という)?\s*{_SECTION_NOUN}"),
    ),
    ("starts", re.compile(_START), re.compile(_START_AFTER)),
    ("ends", re.compile(_END), re.compile(_END_AFTER)),
    ("banned", re.compile(_BAN_CLOSE), None),
)
"""What the words right before a name, or right after it, make of it."""


@dataclass(frozen=True, slots=True)
class _Mention:
    """One name, or several joined by "and", as signs of the masked text, with the words around them."""

    signs: tuple[str, ...]
    before: str
    after: str


_TWISTED = re.compile(
    r"\b(?:remov\w*|delet\w*|left\s+out|leave\s+out|kill|lose|drop|rename|neither|nobody|no\s+need|(?:get|take)\b.*\bout"
    r"|(?:do|does|did)(?:n['’]?t|\s+not)\s+(?:need|have\s+to|want|ask)|(?:make|be)\s+sure\b.*n['’]?t\b|keep\s+(?:writing|saying|using)"
    r"|isn['’]?t\s+included|wrong\s+to|forget\s+not|deja\s+de|quita\w*|elimin\w*|enl[eè]v\w*|supprim\w*|remov[ae]\w*"
    r"|\bne\b.*\bplus|weg|убер\w*|удал\w*)\b|不需要|删|去掉|不要|削除"
)
"""Wording in which asking and forbidding are easily taken for each other. Nothing is asked for on such grounds: a check
that is missing costs a little evidence, a wrong one teaches the opposite."""
_EXASPERATED = re.compile(
    r"\b(?:not|n't|cannot|can't|couldn't)\s+(?:be\s+)?(?:that|so|too|very)?\s*"
    r"(?:hard|difficult|much to ask|complicated)\b"
    r"|\bnicht\s+(?:so|zu)\s+(?:schwer|schwierig)\b|\bno\s+(?:es|debe\w*)\s+(?:ser\s+)?(?:tan\s+)?dif[ií]cil\b"
)
"""Such a "not" belongs to the sigh and not to what follows: nothing can be said of either."""
_CONDITION = re.compile(r"\b(?:if|unless|only\s+when|either|whenever)\b")
"""A condition on the request: the check would hold for some requests and not for others."""
_SCOPED = re.compile(r"\b(?:title|subject|heading|headline|bullet|item|paragraph|section|sentence|line|per|each)s?\b")
"""A limit on a part of the reply is no limit on the whole."""


def read_checks(text: str) -> tuple[Check, ...]:
    """The checks that a person's correction states, without repetitions, in the order stated. Author: "person"."""
    masked = mask_names(text)
    found: list[Check] = []
    for sentence in _SENTENCE.split(fold(masked.text)):
        if _EXASPERATED.search(sentence):
            continue
        if not _CONDITION.search(sentence):
            named = _named_checks(sentence, masked)
            found += (check for check in named if isinstance(check, NotContains) or not _TWISTED.search(sentence))
        if not _SCOPED.search(sentence):
            found += limit_checks(sentence)
        if _asks_for_json(sentence):
            found.append(JsonValid())
    return tuple(check for place, check in enumerate(found) if check not in found[:place])


def _named_checks(sentence: str, masked: Masked) -> Iterator[Check]:
    kind: Kind | None = None
    banned = False
    for mention in _mentions(sentence):
        kind = kind if _ANOTHER.search(mention.before) else _kind(mention)
        banned = _is_banned(mention, inherited=banned)
        for sign in mention.signs:
            name = masked.name(sign) if kind == "ends" else masked.stem(sign)
            check = _check(kind, name, banned=banned, hashes="##" in sentence)
            if check is not None:
                yield check
    tool = _TOOL_UNQUOTED.search(sentence)
    if tool and not re.search(_BAN, _last_part(_ensured(sentence[: tool.start("tool")]))):
        yield ToolCalled(arg=tool.group("tool"))


def _mentions(sentence: str) -> Iterator[_Mention]:
    """Names joined by nothing but commas and conjunctions are one mention."""
    signs = list(re.finditer(NAME, sentence))
    start = end = 0
    while start < len(signs):
        end = start
        while end + 1 < len(signs) and _SEPARATOR.fullmatch(sentence, signs[end].end(), signs[end + 1].start()):
            end += 1
        before = sentence[signs[start - 1].end() if start else 0 : signs[start].start()]
        after = sentence[signs[end].end() : signs[end + 1].start() if end + 1 < len(signs) else len(sentence)]
        yield _Mention(tuple(sign.group() for sign in signs[start : end + 1]), before, after)
        start = end + 1


def _kind(mention: _Mention) -> Kind | None:
    """What is asked of a name. The order matters: "start with a section headed ..." is about the section."""
    for kind, before, after in _KINDS:
        if before.search(mention.before) or (after and after.match(mention.after)):
            return kind
    if _USES.search(mention.before) and re.match(r"\s*-?\s*tool\b", mention.after):
        return "tool"
    stated = re.search(_CONTAIN, _ensured(mention.before)) or re.match(f"{_CONTAIN_AFTER}|{_BAN_AFTER}", mention.after)
    return "contains" if stated and not re.search(_TOO_LATE, mention.before) else None


def _is_banned(mention: _Mention, *, inherited: bool) -> bool:
    if inherited and _CARRIES_ON.match(mention.before):
        return True
    before = _ensured(mention.before)
    if "\0" in before:
        return False
    *earlier, last = [part.strip() for part in _PART.split(before)]
    if re.search(_BAN, last) or re.match(_BAN_AFTER, mention.after):
        return True
    if re.search(r"\bno$", last) or re.search(rf"\bno (?:\w+ )?(?:{_SECTION_NOUN}|mention|word|words|phrase)\b", last):
        return True
    return any(re.fullmatch(_BARE_BAN, part) for part in earlier)


def _ensured(before: str) -> str:
    """Complaints of a missing thing and doubled negations become one sign (and the plain word for it)."""
    return re.sub(_ENSURE, " \0 ensure ", before)


def _last_part(text: str) -> str:
    return _PART.split(text)[-1]


def _check(kind: Kind | None, name: str, *, banned: bool, hashes: bool) -> Check | None:
    if kind == "banned" or (kind == "contains" and banned):
        return NotContains(arg=name)
    if kind is None or banned:  # "don't start with ...", "no section called ...": no operator says exactly this
        return None
    if kind == "section":
        title = name.lstrip("#").strip().rstrip(":.,").strip()
        if not title:
            return None
        return Heading(arg=title) if hashes or name.startswith("#") else SectionPresent(arg=title)
    makers: dict[str, type[StartsWith | EndsWith | ToolCalled | Contains]] = {
        "starts": StartsWith,
        "ends": EndsWith,
        "tool": ToolCalled,
        "contains": Contains,
    }
    return makers[kind](arg=name)


def _asks_for_json(sentence: str) -> bool:
    for match in _JSON.finditer(sentence):
        around = _last_part(_ensured(sentence[: match.end()]))
        negated = "\0" not in around and re.search(rf"{_BAN}|\b(?:no|not|instead of|than) (?:\w+ )?json", around)
        if not negated and not _JSON_ABOUT.search(sentence):
            return True
    return False

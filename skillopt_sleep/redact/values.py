"""What tells a secret from an ordinary word: the last word on a candidate, by its own characters."""

from __future__ import annotations

import base64
import binascii
import functools
import itertools
import math
import re
from collections import Counter

_PLACEHOLDER = (
    r"(?is)[\W_]+|[x.*]{3,}|\[.*|<[^>]*>.*|\{[^}]*\}.*|\$(?:[a-z_]\w*|\{.*|\(.*)|%(?:\w*%|[sdr]|\(.*)"
    r"|(?:your|example|sample|insert|enter|replace)[-_ a-z]*|change[-_ ]?(?:me|it)"
    r"|(?:[a-z]{1,20}[-_ ])?(?:secret|token|password|passwd|api[-_ ]?key|credential)s?"
    r"|(?:the[-_ ])?(?:placeholder|redacted|masked|hidden)"
    r"|pass|pwd|pw"
)
_ORDINARY = (
    "(?i)string|str|text|bytes|varchar|char|object|optional|required|none|null|nil|true|false|undefined|boolean|number"
    "|integer|secretstr|username|email|input|field|value|default|empty|missing|invalid|incorrect|unknown|forgotten"
    "|expired|strong|please|reset|login|method|plain|prompt|confirm"
)
_LABEL = r"(?i)passw|enter|your|must|least|requir|invalid|incorrect|forg[eo]t|please|reset|match|charact"
_CODE = r"(?as)[A-Za-z_$][\w$]*(?:(?:\.|->|::)[A-Za-z_$][\w$]*)+(?:\(.*)?|[A-Za-z_$][\w$]*\(.*"
_WORDED = r"[A-Za-z]*\d{0,8}(?:[-_./:@][A-Za-z]*\d{0,8})+"
_UUID = r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_PATHLIKE = ("/", "./", "../", "~", "http:", "https:", "file:", "arn:", "C:")


@functools.cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Patterns are compiled when they are first needed: most texts need few of them."""
    return re.compile(pattern)


def always(_: str) -> bool:
    return True


def real(value: str) -> bool:
    """Not a placeholder, a piece of code or a path."""
    return not value.startswith(_PATHLIKE) and not any(
        compiled(pattern).fullmatch(value) for pattern in (_PLACEHOLDER, _ORDINARY, _CODE)
    )


def _humps(value: str) -> int:
    return sum(1 for a, b in itertools.pairwise(value) if a.islower() and b.isupper())


def opaque(value: str) -> bool:
    """Letters mixed with digits, or cases mixed as no identifier mixes them."""
    if not real(value) or compiled(_WORDED).fullmatch(value):
        return False
    digits = sum(c.isdigit() for c in value)
    if digits and digits < len(value):
        return digits >= 2 or len(value) >= 16
    return len(value) >= 16 and _humps(value) >= 4


def mixed(value: str) -> bool:
    """Of upper and lower case and digits: what is left to ask where dots are part of the shape, as they are of code."""
    return all(compiled(part).search(value) for part in ("[a-z]", "[A-Z]", r"\d.*\d"))


def random_looking(value: str) -> bool:
    """As `opaque`, and long and varied enough that nobody types it by hand; or a UUID, which some services give."""
    if compiled(_UUID).fullmatch(value):
        return True
    if len(value) < 12 or not opaque(value):
        return False
    shares = [count / len(value) for count in Counter(value).values()]
    return -sum(share * math.log2(share) for share in shares) >= 1.5 and sum(c.isalpha() for c in value) >= 2


def long_random(value: str) -> bool:
    """So long that it needs no more than a name before it: "use the token ..."."""
    return len(value) >= 20 and random_looking(value)


def typed_word(value: str) -> bool:
    """A password where only a password can stand: no space and no code."""
    return " " not in value and typed_password(value)


def typed_password(value: str) -> bool:
    """A password that stands bare among words: it must hold a digit or a symbol that prose does not glue to words."""
    core = value.rstrip(".,:?!)")
    return len(core) >= 5 and real(core) and not core.isdigit() and bool(re.search(r"\d|[!#$%^*?~+@]", core))


def plain_password(value: str) -> bool:
    """A value of letters only: lower case, for `SecretStr` is a type, and without the underscores of a variable."""
    return real(value) and value[0].islower()


def quoted_password(value: str) -> bool:
    """A pass phrase holds spaces, and so does the text of a form's label: labels speak of passwords."""
    return real(value) and not (" " in value and compiled(_LABEL).search(value))


def quoted_words(value: str) -> bool:
    """The value of a connection string, which may hold spaces."""
    return len(value) >= 3 and real(value) and " = " not in value


def decodes(value: str) -> bool:
    """Base64 of `user:password`; "Basic understanding" has the right letters but does not decode to that."""
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded and decoded.isascii() and decoded.decode("ascii").isprintable()


def key_block(value: str) -> bool:
    """A block with a body, not a sentence that quotes both of its border lines."""
    body = value.split("-----")[2]
    return body.lstrip(" ").startswith(("\n", "\r", "\\")) or bool(re.search("[A-Za-z0-9+/=]{24}", body))

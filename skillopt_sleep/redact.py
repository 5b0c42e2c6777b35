r"""Masks secrets in text before it is stored or sent: `redact(text)` gives the masked text and counts by kind.

How it stays fast and safe on megabytes of text:

* Every kind names literals (*anchors*), one of which stands at the beginning of each of its matches. Anchors are looked
  for with `str.find`; a pattern is tried only where one stands, and is compiled only when that first happens.
* No pattern can be made to rescan long stretches from many anchors: an unbounded repeat stands only at a pattern's end
  (where it cannot fail) or over characters that no anchor of the same kind can follow; all others are bounded.

Text comes from transcripts, so a secret may stand in prose, code, JSON, or JSON inside JSON: a quote is "any number of
backslashes and a quote mark", and a token may follow the letter of an escaped line break (`\nghp_...`).

The formats of vendors' tokens are those the vendors document for their own secret scanners.
"""

from __future__ import annotations

import base64
import binascii
import functools
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

REDACTOR_VERSION = 1
"""To be raised with every change of what is masked: what an older version masked is then read, or masked, anew."""

_MAX_PASSES = 8
"""A mask can free a secret that its neighbour hid (a guard saw a letter before it), so passes repeat until none finds
anything. One pass is enough for clean text and two for nearly all other; the bound is for text made to defy us."""


# What tells a secret from an ordinary word ----------------------------------------------------------------------------

_PLACEHOLDER = (
    r"(?is)[\W_]+|[x.*]{3,}|\[.*|<[^>]*>.*|\{[^}]*\}.*|\$(?:[a-z_]\w*|\{.*|\(.*)|%(?:\w*%|[sdr]|\(.*)"
    r"|(?:your|example|sample|insert|enter|replace)[-_ a-z]*|change[-_ ]?(?:me|it)"
    r"|(?:the[-_ ])?(?:secret|token|password|passwd|api[-_ ]?key|credential|placeholder|redacted|masked|hidden)s?"
)
_ORDINARY = (
    "(?i)string|str|text|bytes|varchar|char|object|optional|required|none|null|nil|true|false|undefined|boolean|number"
    "|integer|secretstr|username|email|input|field|value|default|empty|missing|invalid|incorrect|unknown|forgotten"
    "|expired|strong|please|reset|login|method|plain|prompt|confirm"
)
_LABEL = r"(?i)passw|enter|your|must|least|requir|invalid|incorrect|forg[eo]t|please|reset|match|charact"
_CODE = r"(?as)[A-Za-z_$][\w$]*(?:(?:\.|->|::)[A-Za-z_$][\w$]*)+(?:\(.*)?|[A-Za-z_$][\w$]*\(.*"
_WORDED = r"[A-Za-z]*\d{0,8}(?:[-_./:@][A-Za-z]*\d{0,8})+"
_PATHLIKE = ("/", "./", "../", "~", "http:", "https:", "file:", "arn:", "C:")


def _always(_: str) -> bool:
    return True


def _real(value: str) -> bool:
    """Not a placeholder, a piece of code or a path."""
    return not value.startswith(_PATHLIKE) and not any(
        _compiled(pattern).fullmatch(value) for pattern in (_PLACEHOLDER, _ORDINARY, _CODE)
    )


def _humps(value: str) -> int:
    return sum(1 for a, b in itertools.pairwise(value) if a.islower() and b.isupper())


def _opaque(value: str) -> bool:
    """Letters mixed with digits, or cases mixed as no identifier mixes them."""
    if not _real(value) or _compiled(_WORDED).fullmatch(value):
        return False
    digits = sum(c.isdigit() for c in value)
    if digits and digits < len(value):
        return digits >= 2 or len(value) >= 16
    return len(value) >= 16 and _humps(value) >= 4


def _random(value: str) -> bool:
    """As `_opaque`, and long and varied enough that nobody would type it by hand."""
    if len(value) < 12 or not _opaque(value):
        return False
    shares = [count / len(value) for count in Counter(value).values()]
    return -sum(share * math.log2(share) for share in shares) >= 1.5 and sum(c.isalpha() for c in value) >= 2


def _typed_password(value: str) -> bool:
    """A password that stands bare among words: it must hold a digit or a symbol that prose does not glue to words."""
    core = value.rstrip(".,:?!)")
    return len(core) >= 5 and _real(core) and not core.isdigit() and bool(re.search(r"\d|[!#$%^*?~+@]", core))


def _plain_password(value: str) -> bool:
    """A value of letters only: lower case, for `SecretStr` is a type, and without the underscores of a variable."""
    return _real(value) and value[0].islower()


def _quoted_password(value: str) -> bool:
    """A pass phrase holds spaces, and so does the text of a form's label: labels speak of passwords."""
    return _real(value) and not (" " in value and _compiled(_LABEL).search(value))


def _quoted_words(value: str) -> bool:
    """The value of a connection string, which may hold spaces."""
    return len(value) >= 3 and _real(value) and " = " not in value


def _user_and_password(value: str) -> bool:
    """Base64 of `user:password`; "Basic understanding" has the right letters but does not decode to that."""
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded and decoded.isascii() and decoded.decode("ascii").isprintable()


def _key_block(value: str) -> bool:
    """A block with a body, not a sentence that quotes both of its border lines."""
    body = value.split("-----")[2]
    return body.lstrip(" ").startswith(("\n", "\r", "\\")) or bool(re.search("[A-Za-z0-9+/=]{24}", body))


# The table ------------------------------------------------------------------------------------------------------------

_GUARD = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9A-Fa-f]{4})|(?<=%[0-9A-Fa-f]{2}))"
"""Begins a token: not inside a longer word, unless what precedes is an escape sequence."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of secret."""

    name: str
    anchors: tuple[str, ...]
    """Lower-case literals; each match begins with one of them, whatever its case in the text."""
    pattern: str
    """Matched at an anchor. The group `secret` is masked, or the whole match where there is no such group."""
    accept: Callable[[str], bool] = _always
    """Has the last word on what would be masked."""


def _token(name: str, prefixes: str, body: str, accept: Callable[[str], bool] = _always) -> Kind:
    """A vendor's token: one of the space-separated prefixes, then a body."""
    anchors = tuple(prefixes.split())
    return Kind(
        name, tuple(a.lower() for a in anchors), f"{_GUARD}(?:{'|'.join(map(re.escape, anchors))}){body}", accept
    )


_Q = r"\\{0,7}[\"'`]"
_QUOTED = rf"(?P<q>{_Q})(?P<secret>(?:(?!(?<!\\)(?P=q))[^\r\n]){{4,400}})(?<!\\)(?P=q)"
_BARE = r"(?P<secret>[!#$%*+\-./0-9:?@A-Z^_a-z~À-ӿ][!#$%*+\-./0-9:=?@A-Z^_a-z~À-ӿ]{4,4000}+)(?![(\[])"
"""A value without quotes: no brackets and separators of code, and no scripts that write words without spaces."""
_TAIL = r"s?(?:[A-Z0-9_.\-][\w.\-]{0,40}+)?+"
_ASSIGN = rf"(?:{_Q}\]?)?\s{{0,8}}(?:=>|:=|={{1,3}}|:\s?[A-Za-z][\w.\[\]|]{{0,30}}\s?=|:|：)\s{{0,8}}"

_PASSWORD = "password|passwd|passphrase|passcode|pwd"
_PASSWORD_ABROAD = (
    "passwort|kennwort|contraseña|contrasena|mot de passe|mot_de_passe|senha|parola|wachtwoord|lösenord|hasło|şifre"
    "|пароль|密码|密碼|口令|パスワード|비밀번호"
)
_SECRET = (
    "api key|api_key|api-key|apikey|access_key|access-key|accesskey|private_key|private-key|privatekey|auth_key|authkey"
    "|encryption_key|encryptionkey|signing_key|signingkey|master_key|account_key|secret|token|credential"
)
_IS = r"\s{0,2}(?:is|was|ist|lautet|est|es|é|är|to|是|为|は|는|은)[\s:：]{0,2}"
_PW, _PW_ALL, _SEC = f"(?i:{_PASSWORD})", f"(?iu:{_PASSWORD}|{_PASSWORD_ABROAD})", f"(?i:{_SECRET})"
_PW_ANCHORS = tuple(_PASSWORD.split("|"))
_PW_ALL_ANCHORS = (*_PW_ANCHORS, *_PASSWORD_ABROAD.split("|"))
_SECRET_ANCHORS = tuple(_SECRET.split("|"))
_FOLD = r"\r?\n[ \t]{0,8}"
_JWT = (
    rf"(?:(?<![\w-])|(?<=\\[nrt]))eyJ[\w-]{{8,2000}}+\.[\w-]{{0,8000}}+(?P<folded>{_FOLD}[\w-]{{1,8000}}+){{0,99}}+"
    rf"\.[\w-]*+(?(folded)(?:{_FOLD}[\w-]{{16,}}+)*+)(?:\.[\w-]+){{0,2}}"
)
"""A token folded over lines by a terminal is followed to its end; after an unfolded one, the next line is kept."""

KINDS: tuple[Kind, ...] = (
    # Blocks and structured tokens
    Kind(
        "private_key",
        ("-----begin",),
        r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[^-]{0,20000}+(?:-(?!----)[^-]{0,20000}+){0,64}+"
        r"-----END [A-Z0-9 ]{1,60}-----|(?:(?:\s|\\+[nr]){0,8}[A-Za-z0-9+/=]{16,}+){1,2000}+)",
        _key_block,
    ),
    Kind("jwt", ("eyj",), _JWT),
    # AI vendors
    _token("anthropic_key", "sk-ant-", r"[\w-]{12,}"),
    _token("openrouter_key", "sk-or-", r"[\w-]{20,}"),
    _token("openai_key", "sk-proj- sk-svcacct- sk-admin-", r"[\w-]{16,}"),
    _token("openai_key", "sk-", r"(?=[A-Za-z0-9]{0,60}\d)[A-Za-z0-9]{20,}"),
    _token("huggingface_token", "hf_ api_org_", r"[A-Za-z0-9]{28,}"),
    _token("groq_key", "gsk_", r"[A-Za-z0-9]{32,}"),
    _token("xai_key", "xai-", r"[A-Za-z0-9]{40,}"),
    _token("perplexity_key", "pplx-", r"[A-Za-z0-9]{32,}"),
    _token("replicate_token", "r8_", r"[A-Za-z0-9]{32,}"),
    _token("nvidia_key", "nvapi-", r"[\w-]{40,}"),
    _token("langsmith_key", "lsv2_pt_ lsv2_sk_", r"[0-9a-f]{32}_[0-9a-f]{10}"),
    _token("pinecone_key", "pcsk_", r"\w{40,}"),
    # Clouds
    _token("aws_access_key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    Kind(
        "aws_secret_key",
        ("secret_access_key", "secretaccesskey"),
        rf"(?i:secret_?access_?key){_ASSIGN}(?:{_Q})?(?P<secret>[A-Za-z0-9/+=]{{32,}})",
    ),
    _token("aws_bedrock_key", "ABSK bedrock-api-key-", r"[A-Za-z0-9+/]{60,}={0,2}"),
    _token("google_api_key", "AIza", r"[\w-]{35}"),
    _token("google_oauth_token", "ya29. 1//0", r"[\w.-]{20,}"),
    _token("google_oauth_secret", "GOCSPX-", r"[\w-]{20,}"),
    Kind(
        "azure_key",
        ("accountkey", "sharedaccesskey", "sharedsecretvalue"),
        r"(?i:accountkey|sharedaccesskey|sharedsecretvalue)\s?=\s?(?P<secret>[A-Za-z0-9+/%]{16,}={0,2})",
    ),
    Kind("azure_client_secret", ("8q~",), r"8Q~[\w~.-]{30,}"),
    _token("digitalocean_token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{40,}"),
    _token("cloudflare_ca_key", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{100,}"),
    _token("databricks_token", "dapi", r"[0-9a-f]{32}"),
    _token("vault_token", "hvs. hvb. hvr.", r"[\w-]{20,}"),
    Kind("terraform_token", (".atlasv1.",), r"\.atlasv1\.[\w-]{40,}"),
    _token("pulumi_token", "pul-", r"[0-9a-f]{40}"),
    _token("supabase_key", "sbp_ sb_secret_", r"\w{20,}"),
    _token("planetscale_token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w.-]{20,}"),
    _token("fly_token", "fm1_ fm2_ fo1_", r"[\w+/=-]{40,}"),
    _token("tailscale_key", "tskey-", r"[A-Za-z]{2,12}-[\w-]{16,}"),
    _token("age_key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{40,}"),
    # Code hosts and package registries
    _token("github_token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{20,}"),
    _token("github_fine_grained_token", "github_pat_", r"\w{20,}"),
    _token("gitlab_token", "glpat- gldt- glrt- glptt- glcbt- glsoat- glft- glimt- glagent-", r"[\w.-]{16,}"),
    _token("npm_token", "npm_", r"[A-Za-z0-9]{30,}"),
    _token("pypi_token", "pypi-", r"[\w-]{40,}", _opaque),
    _token("rubygems_key", "rubygems_", r"[0-9a-f]{40,}"),
    _token("docker_token", "dckr_pat_ dckr_oat_", r"[\w-]{20,}"),
    _token("atlassian_token", "ATATT3 ATCTT3", r"[\w=-]{40,}"),
    _token("ci_token", "CCIPAT_ bkua_ glc_ glsa_ sntrys_ sntryu_", r"[\w+/=-]{24,}"),
    _token("monitoring_key", "NRAK- dt0c01.", r"[\w.-]{24,}"),
    _token("postman_key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    _token("doppler_token", "dp.pt. dp.st. dp.ct. dp.sa.", r"[\w.-]{30,}"),
    # Products
    _token("stripe_key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[A-Za-z0-9]{10,}"),
    _token("webhook_secret", "whsec_", r"[A-Za-z0-9+/]{20,}={0,2}"),
    _token("slack_token", "xoxb- xoxp- xoxa- xoxo- xoxr- xoxs- xoxe- xoxe. xoxc- xoxd- xapp-", r"[\w.%-]{10,}"),
    Kind(
        "slack_webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[\w/-]{16,})",
    ),
    Kind("discord_webhook", ("/api/webhooks/",), r"/api/webhooks/\d{5,25}/(?P<secret>[\w-]{20,})"),
    Kind("telegram_token", (":aa",), r"(?<=\d{8}):(?P<secret>AA[\w-]{30,})"),
    _token("sendgrid_key", "SG.", r"[\w-]{16,80}\.[\w-]{16,}"),
    _token("mailgun_key", "key-", r"[0-9a-f]{32}(?![0-9a-f])"),
    _token("twilio_key", "SK", r"[0-9a-f]{32}(?![0-9a-f])"),
    _token("elevenlabs_key", "sk_", r"[0-9a-f]{40,}"),
    _token("shopify_token", "shpat_ shpca_ shppa_ shpss_", r"[0-9A-Fa-f]{32}"),
    _token("square_token", "sq0atp- sq0csp- EAAA", r"[\w-]{22,}", _opaque),
    _token("linear_key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{30,}"),
    _token("notion_token", "ntn_ secret_", r"[A-Za-z0-9]{40,}"),
    _token("figma_token", "figd_", r"[\w-]{30,}"),
    _token("airtable_token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    # Headers, addresses and connection strings
    Kind(
        "authorization",
        ("authorization",),
        rf"(?i:authorization){_ASSIGN}(?:{_Q})?(?:(?i:bearer|basic|token|apikey|digest|negotiate|key)(?:\s|\\\r?\n){{1,8}})?"
        r"(?P<secret>[\w.~+/=:-]{8,})(?![(\[])",
        _opaque,
    ),
    Kind(
        "bearer_token", ("bearer",), r"(?i:bearer):?(?:\s|\\[nrt]|%20){1,8}(?P<secret>[\w.~+/=-]{8,})(?![(\[])", _opaque
    ),
    Kind("basic_auth", ("basic",), r"(?i:basic)\s{1,4}(?P<secret>[A-Za-z0-9+/]{8,400}={0,2})", _user_and_password),
    Kind(
        "basic_auth",
        ('auth"', "auth\\", "_auth"),
        rf"(?i:_?auth){_ASSIGN}(?:{_Q})?(?P<secret>[A-Za-z0-9+/]{{8,400}}={{0,2}})",
        _user_and_password,
    ),
    Kind(
        "basic_auth",
        (" -u ", "--user "),
        r"(?i: -u|--user) {1,4}(?:[\"'])?[^\s:\"']{1,64}:(?P<secret>[^\s\"']{4,200})",
        _typed_password,
    ),
    Kind(
        "cookie",
        ("cookie",),
        rf"(?i:cookie){_ASSIGN}(?:{_Q})?(?P<secret>[\w.-]{{1,60}}=[^\r\n\"'\\]{{8,4000}})",
        lambda value: any(_random(part.partition("=")[2].strip()) for part in value.split(";")),
    ),
    Kind("url_password", ("://",), r"://[^\s:/@\"'<>\\]{0,100}:(?P<secret>[^\s@/\"'<>\\]{1,200})@(?=[\w\[.-])", _real),
    Kind(
        "signed_url",
        ("x-amz-", "x-goog-"),
        r"(?i:x-(?:amz|goog)-(?:signature|security-token|credential))(?:=|%3[dD])(?P<secret>[^\s&\"'<>\\#)]{8,})",
    ),
    Kind(
        "signed_url",
        ("sig=", "sig%3d"),
        r"(?i:(?<![a-z_-])sig(?:=|%3d))(?P<secret>[^\s&\"'<>\\#)(]{6,})(?!\()",
        _opaque,
    ),
    Kind(
        "url_secret",
        ("key=", "code=", "auth=", "signature=", "hmac="),
        r"(?:(?<=[?&;_-])|(?<=\\u0026))(?i:key|code|auth|signature|hmac)=(?P<secret>[^\s&\"'<>\\#)(]{8,})(?!\()",
        _random,
    ),
    Kind(
        "connection_password",
        ("password=", "pwd="),
        rf"(?i:password|pwd)=(?P<secret>[^\s;\"'=&\[(),][^;\"'\r\n&=()<>]{{0,200}}?={{0,2}})(?=;|\\+[nrt]|{_Q})",
        _quoted_words,
    ),
    # Values of names that say what they hold
    Kind("password", _PW_ALL_ANCHORS, rf"{_PW_ALL}{_TAIL}{_ASSIGN}{_QUOTED}", _quoted_password),
    Kind("password", _PW_ALL_ANCHORS, rf"{_PW_ALL}{_TAIL}{_ASSIGN}{_BARE}", _typed_password),
    Kind("password", _PW_ALL_ANCHORS, rf"{_PW_ALL}{_IS}(?:{_Q})?{_BARE}", _typed_password),
    Kind("password", _PW_ANCHORS, rf"{_PW}(?:{_Q})?\s{{0,4}}[:=]\s{{0,4}}(?:{_Q})?(?P<secret>\d{{5,20}})(?![\w.])"),
    Kind(
        "password",
        _PW_ANCHORS,
        rf"{_PW}{_TAIL}[ \t]{{0,4}}[:=][ \t]{{0,4}}(?P<secret>[A-Za-z]{{6,64}})(?=[ \t]*(?:[\r\n;]|\\+[nr]|\Z))",
        _plain_password,
    ),
    Kind("password", tuple(f"{name}>" for name in _PW_ANCHORS), rf"{_PW}>(?P<secret>[^<>\r\n]{{4,200}})</", _real),
    Kind("password", ("login",), rf"(?i:login)\s{{1,4}}\S{{1,100}}\s{{1,4}}{_PW}\s{{1,4}}{_BARE}", _typed_password),
    Kind("secret", _SECRET_ANCHORS, rf"{_SEC}{_TAIL}(?:{_ASSIGN}|{_Q}\s{{0,4}},\s{{0,4}}){_QUOTED}", _random),
    Kind("secret", _SECRET_ANCHORS, rf"{_SEC}{_TAIL}(?:{_ASSIGN}|{_IS}){_BARE}", _random),
    Kind(
        "secret",
        ("--password", "--passwd", "--token", "--secret", "--api-key", "--apikey", "--access-token", "--auth-token"),
        rf"--(?i:password|passwd|token|secret|api-?key|access-token|auth-token)(?:\s|\\\r?\n){{1,8}}(?:{_Q})?{_BARE}",
        _typed_password,
    ),
    Kind(
        "env_secret",
        ("secret=", "token=", "password=", "passwd=", "passphrase=", "_pass=", "_pwd=", "credentials="),
        rf"(?:SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|_PASS|_PWD|CREDENTIALS)=(?:{_Q})?{_BARE}",
        lambda value: _real(value) and not value.isdigit(),
    ),
)


# The engine -----------------------------------------------------------------------------------------------------------


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@functools.cache
def _anchors() -> frozenset[str]:
    return frozenset(anchor for kind in KINDS for anchor in kind.anchors)


def _fold(text: str) -> str:
    """Lower case with every character at its old place: U+0130 is the only one whose lower case is longer."""
    return text.replace("\u0130", "I").lower()


def _matches(kind: Kind, anchors: frozenset[str], text: str, folded: str) -> Iterator[tuple[int, int]]:
    """Where one kind's secrets stand, as (start, end); `anchors` are those that the text holds."""
    pattern = _compiled(f"(?a){kind.pattern}")
    group = "secret" if "secret" in pattern.groupindex else 0
    for anchor in anchors.intersection(kind.anchors):
        at = folded.find(anchor)
        while at >= 0:
            found = pattern.match(text, at)
            after = at + 1
            if found:
                start, end = found.span(group)
                if not text.startswith("[masked:", start) and kind.accept(text[start:end]):
                    yield start, end
                # Also past what was turned down: looking into it again from each anchor in it would not be linear.
                after = max(end, after)
            at = folded.find(anchor, after)


def _spans(text: str) -> list[tuple[int, int, str]]:
    """What to mask, in order and without overlap; where kinds meet, the earliest names it and the union is masked."""
    folded = _fold(text)
    anchors = frozenset(anchor for anchor in _anchors() if anchor in folded)
    if not anchors:
        return []
    found = sorted(
        (start, rank, end)
        for rank, kind in enumerate(KINDS)
        if not anchors.isdisjoint(kind.anchors)
        for start, end in _matches(kind, anchors, text, folded)
    )
    spans: list[tuple[int, int, str]] = []
    for start, rank, end in found:
        if spans and start < spans[-1][1]:
            first, last, name = spans[-1]
            spans[-1] = (first, max(last, end), name)
        else:
            spans.append((start, end, KINDS[rank].name))
    return spans


def redact(text: str, /) -> tuple[str, dict[str, int]]:
    """The text with each secret replaced by `[masked:KIND]`, and how many of each kind were replaced.

    Idempotent: masked text comes back unchanged. Words next to a secret (the name of a variable, the server of a
    connection string) are kept. Takes time in proportion to the text's length.
    """
    counts: Counter[str] = Counter()
    for _ in range(_MAX_PASSES):
        spans = _spans(text)
        if not spans:
            break
        pieces: list[str] = []
        done = 0
        for start, end, name in spans:
            pieces += (text[done:start], f"[masked:{name}]")
            done = end
            counts[name] += 1
        text = "".join(pieces) + text[done:]
    return text, dict(counts)

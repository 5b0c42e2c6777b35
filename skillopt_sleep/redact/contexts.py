"""Secrets that only their surroundings betray: headers, addresses, and the values of names that say what they hold."""

from __future__ import annotations

from skillopt_sleep.redact.kind import Kind
from skillopt_sleep.redact.values import (
    decodes,
    long_random,
    opaque,
    plain_password,
    quoted_password,
    quoted_words,
    random_looking,
    real,
    typed_password,
    typed_word,
)

_Q = r"\\{0,7}[\"'`]"
_QUOTED = rf"[bBrRuUfF]{{0,2}}(?P<q>{_Q})(?P<secret>(?:(?!(?<!\\)(?P=q))[^\r\n]){{4,400}})(?<!\\)(?P=q)"
_BARE = r"(?P<secret>[!#$%*+\-./0-9:?@A-Z^_a-z~À-ӿ][!#$%*+\-./0-9:=?@A-Z^_a-z~À-ӿ]{4,4000}+)(?![(\[])"
"""A value without quotes: no brackets and separators of code, and no scripts that write words without spaces."""
_TAIL = r"s?(?:[A-Z0-9_.\-][\w.\-]{0,40}+)?+"
_ASSIGN = rf"(?:{_Q}\]?)?\s{{0,8}}(?:=>|:=|={{1,3}}|:\s?[A-Za-z][\w.\[\]|]{{0,30}}\s?=|:|：)\s{{0,8}}"

_VALUE_OF = rf"(?:{_Q})\s{{1,4}}(?i:value)\s{{0,2}}=\s{{0,2}}"
"""`<add key="SmtpPassword" value=`."""
_DEFAULT_OF = rf"(?:{_Q})\s{{0,4}}\{{[^{{}}]{{0,200}}?default\s{{0,8}}=\s{{0,4}}"
"""`variable "api_token" { default =`."""

_PASSWORD = "password|passwd|passphrase|passcode|pwd"
_PASSWORD_ABROAD = (
    "passwort|kennwort|contraseña|contrasena|mot de passe|mot_de_passe|senha|parola|wachtwoord|lösenord|hasło|şifre"
    "|пароль|密码|密碼|口令|パスワード|비밀번호"
)
_SECRET = (
    "api key|api_key|api-key|apikey|access_key|access-key|accesskey|private_key|private-key|privatekey|auth_key|authkey"
    "|encryption_key|encryptionkey|signing_key|signingkey|master_key|account_key|secret|token|credential"
)
_SECRET_ABROAD = (
    "令牌|密钥|密鑰|秘钥|キー|シークレット|トークン|clave|llave|secreto|schlüssel|geheimnis|clé|jeton|ключ|токен|секрет|chave"
    "|segredo|chiave|토큰|키"
)
_IS = r"\s{0,2}(?:is|was|ist|lautet|war|est|es|é|è|är|to|是|为|為|は|는|은)[\s:：]{0,2}"
_WHICH_IS = rf"(?:{_IS}|\s?[:：]\s{{1,4}})(?:{_Q})?"
_OF = r"(?: [^\W\d][^\s:=,.;\d]{0,14}){0,4}?"
"""A few words between a label and its value: "the password for the staging box is ..."."""
_PW, _PW_ALL, _SEC = f"(?i:{_PASSWORD})", f"(?iu:{_PASSWORD}|{_PASSWORD_ABROAD})", f"(?i:{_SECRET})"
_SEC_ABROAD = f"(?iu:{_SECRET_ABROAD})"
_PW_ANCHORS = tuple(_PASSWORD.split("|"))
_PW_ALL_ANCHORS = (*_PW_ANCHORS, *_PASSWORD_ABROAD.split("|"))
_SECRET_ANCHORS = tuple(_SECRET.split("|"))
CONTEXTS: tuple[Kind, ...] = (
    Kind(
        "aws_secret_key",
        ("secret_access_key", "secretaccesskey"),
        rf"(?i:secret_?access_?key){_ASSIGN}(?:{_Q})?(?P<secret>[A-Za-z0-9/+=]{{32,}})",
    ),
    Kind(
        "azure_key",
        ("accountkey", "sharedaccesskey", "sharedsecretvalue"),
        r"(?i:accountkey|sharedaccesskey|sharedsecretvalue)\s?=\s?(?P<secret>[A-Za-z0-9+/%]{16,}={0,2})",
    ),
    Kind(
        "authorization",
        ("authorization",),
        rf"(?i:authorization){_ASSIGN}(?:{_Q})?(?:(?i:bearer|basic|token|apikey|digest|negotiate|key)(?:\s|\\\r?\n){{1,8}})?"
        r"(?P<secret>[\w.~+/=:-]{8,})(?![(\[])",
        opaque,
    ),
    Kind(
        "bearer_token", ("bearer",), r"(?i:bearer):?(?:\s|\\[nrt]|%20){1,8}(?P<secret>[\w.~+/=-]{8,})(?![(\[])", opaque
    ),
    Kind("basic_auth", ("basic",), r"(?i:basic)\s{1,4}(?P<secret>[A-Za-z0-9+/]{8,400}={0,2})", decodes),
    Kind(
        "basic_auth",
        ('auth"', "auth\\", "_auth"),
        rf"(?i:_?auth){_ASSIGN}(?:{_Q})?(?P<secret>[A-Za-z0-9+/]{{8,400}}={{0,2}})",
        decodes,
    ),
    Kind(
        "basic_auth",
        ('auth"', "auth\\", "_auth"),
        rf"(?i:_?auth){_ASSIGN}(?:{_Q})?(?P<secret>[A-Za-z0-9+/]{{24,400}}={{0,2}})",
        long_random,
    ),
    Kind(
        "basic_auth",
        (" -u ", "--user "),
        r"(?i: -u|--user) {1,4}(?:[\"'])?[^\s:\"']{1,64}:(?P<secret>[^\s\"']{4,200})",
        typed_password,
    ),
    Kind(
        "cookie",
        ("cookie",),
        rf"(?i:cookie){_ASSIGN}(?:{_Q})?(?P<secret>[\w.-]{{1,60}}=[^\r\n\"'\\]{{8,4000}})",
        lambda value: any(random_looking(part.partition("=")[2].strip()) for part in value.split(";")),
    ),
    Kind("url_password", ("://",), r"://[^\s:/@\"'<>\\\[]{0,100}:(?P<secret>[^\s@/\"'<>\\]{1,200})@(?=[\w\[.-])", real),
    Kind("url_password", ("://",), r"://(?P<secret>[\w-]{20,200})@(?=[\w\[])", random_looking),
    Kind(
        "signed_url",
        ("x-amz-", "x-goog-"),
        r"(?i:x-(?:amz|goog)-(?:signature|security-token|credential))(?:=|%3[dD])(?P<secret>[^\s&\"'<>\\#)]{8,})",
    ),
    Kind(
        "signed_url",
        ("sig=", "sig%3d"),
        r"(?i:(?<![a-z_-])sig(?:=|%3d))(?P<secret>[^\s&\"'<>\\#)(]{6,})(?!\()",
        opaque,
    ),
    Kind(
        "url_secret",
        ("key=", "code=", "auth=", "signature=", "hmac="),
        r"(?:(?<=[?&;_-])|(?<=\\u0026))(?i:key|code|auth|signature|hmac)=(?P<secret>[^\s&\"'<>\\#)(]{8,})(?!\()",
        random_looking,
    ),
    Kind(
        "connection_password",
        ("password=", "pwd="),
        rf"(?i:password|pwd)=(?P<secret>[^\s;\"'=&\[(),][^;\"'\r\n&=()<>]{{0,200}}?={{0,2}})(?=;|\\+[nrt]|{_Q})",
        quoted_words,
    ),
    # Values of names that say what they hold
    Kind("password", _PW_ALL_ANCHORS, rf"{_PW_ALL}{_TAIL}{_ASSIGN}{_QUOTED}", quoted_password),
    Kind("password", _PW_ALL_ANCHORS, rf"{_PW_ALL}{_TAIL}{_ASSIGN}{_BARE}", typed_password),
    Kind(
        "password", _PW_ALL_ANCHORS, rf"{_PW_ALL}(?u:{_OF})(?:{_IS}|\s?[:：]\s{{1,4}})(?:{_Q})?{_BARE}", typed_password
    ),
    Kind(
        "password", ("pass",), rf"(?<![\w$.-])(?i:pass)(?:{_Q})?\s{{0,4}}[:=]\s{{0,4}}(?:{_Q})?{_BARE}", typed_password
    ),
    Kind("password", ("password(", "passwd(", "pwd("), rf"{_PW}\(\s{{0,4}}{_QUOTED}", typed_word),
    Kind("password", _PW_ANCHORS, rf"{_PW}{_TAIL}{_VALUE_OF}{_QUOTED}", quoted_password),
    Kind(
        "password",
        ("mysql", "mariadb"),
        r"(?i:mysql|mariadb)(?:[\w-]{0,10})[^\r\n|;]{0,200}? (?:-p|--password=)(?P<secret>[^\s'\"]{4,200})",
        typed_word,
    ),
    Kind("password", ("sshpass",), rf"(?i:sshpass) {{1,4}}-p ?(?:{_Q})?{_BARE}", typed_word),
    Kind(
        "password",
        ("docker login", "podman login", "registry login", "az login"),
        rf"(?i:docker|podman|registry|az) login[^\r\n|;]{{0,200}}? -p {{1,4}}(?:{_Q})?{_BARE}",
        typed_word,
    ),
    Kind("password", _PW_ANCHORS, rf"{_PW}(?:{_Q})?\s{{0,4}}[:=]\s{{0,4}}(?:{_Q})?(?P<secret>\d{{5,20}})(?![\w.])"),
    Kind(
        "password",
        _PW_ANCHORS,
        rf"{_PW}{_TAIL}[ \t]{{0,4}}[:=][ \t]{{0,4}}(?P<secret>[A-Za-z]{{6,64}})(?=[ \t]*(?:[\r\n;]|\\+[nr]|\Z))",
        plain_password,
    ),
    Kind("password", tuple(f"{name}>" for name in _PW_ANCHORS), rf"{_PW}>(?P<secret>[^<>\r\n]{{4,200}})</", real),
    Kind("password", ("login",), rf"(?i:login)\s{{1,4}}\S{{1,100}}\s{{1,4}}{_PW}\s{{1,4}}{_BARE}", typed_password),
    Kind("secret", _SECRET_ANCHORS, rf"{_SEC}{_TAIL}(?:{_ASSIGN}|{_Q}\s{{0,4}},\s{{0,4}}){_QUOTED}", random_looking),
    Kind(
        "secret", _SECRET_ANCHORS, rf"{_SEC}{_TAIL}(?:{_ASSIGN}(?:{_Q})?|(?u:{_OF}){_WHICH_IS}){_BARE}", random_looking
    ),
    Kind("secret", _SECRET_ANCHORS, rf"{_SEC}s? {{1,2}}(?:{_Q})?{_BARE}", long_random),
    Kind("secret", _SECRET_ANCHORS, rf"{_SEC}{_TAIL}(?:{_VALUE_OF}|{_DEFAULT_OF}){_QUOTED}", random_looking),
    Kind("secret", _SECRET_ANCHORS, rf"{_SEC}{_TAIL}>(?P<secret>[^<>\s]{{8,4000}})</", random_looking),
    Kind(
        "secret",
        tuple(_SECRET_ABROAD.split("|")),
        rf"{_SEC_ABROAD}{_TAIL}(?u:{_OF})(?:{_ASSIGN}|{_IS})(?:{_Q})?{_BARE}",
        random_looking,
    ),
    Kind(
        "secret",
        ("--password", "--passwd", "--token", "--secret", "--api-key", "--apikey", "--access-token", "--auth-token"),
        rf"--(?i:password|passwd|token|secret|api-?key|access-token|auth-token)(?:\s|\\\r?\n){{1,8}}(?:{_Q})?{_BARE}",
        typed_password,
    ),
    Kind(
        "env_secret",
        ("secret=", "token=", "password=", "passwd=", "passphrase=", "_pass=", "_pwd=", "credentials="),
        rf"(?:SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|_PASS|_PWD|CREDENTIALS)=(?:{_Q})?{_BARE}",
        lambda value: real(value) and not value.isdigit(),
    ),
)

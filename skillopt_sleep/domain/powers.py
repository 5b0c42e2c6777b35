"""What a text would make an agent run, reach or be allowed to do: commands, addresses, permissions.

A past conversation holds much that no person wrote: web pages, logs, replies of tools. If such text talks a model into
a rule, the rule would run on every later day. So these three may stand in a rule only where a person has typed them.
The patterns look for what does harm and are generous: whatever they hold up is shown to a person, and nothing is lost.
English wording only, as far as wording matters; commands and addresses are the same in every language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from skillopt_sleep.domain.base import Frozen

PowerKind = Literal["command", "address", "permission"]


class Power(Frozen):
    """One thing that a text would let an agent do. `text` is lower case with single spaces."""

    kind: PowerKind
    text: str


_PROGRAMS = (
    r"sudo|doas|su -|curl|wget|chmod|chown|rm -\w+|mkfs\S*|dd if=\S*|kubectl|netcat|nc -\w+|crontab|systemctl|launchctl"
    r"|iptables|osascript|powershell|pwsh|invoke-\w+|iwr|iex|reg add|schtasks|certutil|mshta|rundll32"
    r"|(?:ba|z|da|k)?sh -\w+|python3? -\w+|node -\w+|perl -\w+|ruby -\w+|base64 -\w+|scp|rsync|sftp|npx|uvx|apt-get"
    r"|git (?:push|config|remote|clone|pull|reset|clean|commit|checkout|rebase|filter-branch|submodule|apply|am)"
    r"|gh (?:auth|secret|pr|repo|release|api)|claude (?:-p|mcp|plugin|--\S+)|export \w+=\S*"
)
"""Programs whose names mean nothing else, alone or with what follows."""
_PRODUCTS = (
    r"npm|pnpm|yarn|pip3?|brew|apt|yum|dnf|gem|cargo|ssh|telnet|docker|podman|aws|gcloud|az|terraform|ansible|psql|mysql"
    r"|sqlite3|pipx|pytest|tox|make|git|gh|helm|uv|poetry|conda|go|node|python3?|bash|zsh"
)
"""Programs that prose also speaks about: commands where a verb or a word of their own says so."""
_ORDERS = r"(?:re-?)?run(?:ning)?|execut(?:e|ing)|invok(?:e|ing)|typ(?:e|ing)|launch(?:ing)?"
_OWN_WORDS = (
    r"install|run|exec|build|publish|login|push|pull|deploy|apply|delete|rm|up|ci|add|remove|uninstall|upgrade|update|get"
    r"|fetch|init|destroy|s3|ec2|iam"
)
_IN_CODE = (
    rf"{_PRODUCTS}|sh|deno|bun|perl|ruby|php|java|cat|cp|mv|tee|echo|find|xargs|kill|env|open|start|rm|ls|touch|ln|mount"
    r"|nohup|screen|tmux|printf|sed|awk|grep|tar|unzip|gpg|openssl|security|defaults|exec|eval|source|export|set|cd|nc|codex"
    r"|claude"
)
_CODE = re.compile(r"(?P<fence>`{3,}|~{3,})[^\n]*\n(?P<block>.*?)(?:(?P=fence)|\Z)|`(?P<span>[^`\n]+)`", re.DOTALL)
_LINE_COMMAND = re.compile(
    rf"^\s*(?:[$>#%]\s+)?(?:\w+=\S+\s+)*(?P<command>(?:(?:{_PROGRAMS}|pytest|tox)(?!\w|\.\w)|(?:{_IN_CODE})(?=\s+\S)"
    r"|[a-z][\w./-]*(?=(?:\s+[\w./:=-]+)*\s+--?[a-z])|\./\S+|~?/(?:[\w.-]+/)+[\w.-]+(?=\s|$))[^\n]*)",
    re.IGNORECASE,
)
_ARGUMENT = r"(?:\s+(?:(?:-{1,2}|\+)[\w-]+(?:=\S+)?|[\w@./:-]*[/.:@][\w@./:-]+|\w[\w-]*))?"
_PROSE_COMMAND = re.compile(
    rf"(?<![\w/.-])(?:(?:{_PROGRAMS})(?!\w|\.\w){_ARGUMENT}|(?<=\s)(?:{_PRODUCTS})\s+(?:{_OWN_WORDS})\b{_ARGUMENT}"
    rf"|(?:{_ORDERS})\s+(?P<ordered>(?:{_PRODUCTS})(?!\w|\.\w){_ARGUMENT}))",
    re.IGNORECASE,
)
_PIPE = re.compile(
    r"[|]\s*(?:sudo\s+)?(?:(?:ba|z|da|k)?sh|python3?|node|perl|ruby|iex|xargs|tee)\b[^\n`]*", re.IGNORECASE
)
_SUBSTITUTION = re.compile(r"\$\([^)\n]+\)|<\([^)\n]+\)")

_ENDINGS = (
    r"com|org|net|io|dev|ai|co|app|xyz|info|biz|me|us|uk|de|fr|jp|cn|ru|eu|gov|edu|example|test|local|internal|cloud|site"
    r"|online|top|club|live|tech|store|link|click|zip|tk|ws|cc|tv|to|gg|ly|ch|at|nl|se|es|it|pl|in|br|au|ca|kr|onion"
)
# The bounds are those of host names, and keep a long pasted text from taking seconds.
_ADDRESS = re.compile(
    r"\b(?:[a-z][a-z0-9+.-]{0,24}://|git@|mailto:)[^\s<>\"'`|)\]}]+"
    r"|(?<![\w@./-])(?:[\w.+-]{1,64}@)?(?:[a-z0-9][a-z0-9-]{0,62}\.){1,20}"
    rf"(?:{_ENDINGS})(?![\w.-]*[\w-])(?:[:/][^\s<>\"'`|)\]}}]*)?"
    r"|(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])(?:[:/][^\s<>\"'`|)\]}]*)?"
    r"|(?<![\w.])localhost(?::\d+)?(?:/[^\s<>\"'`|)\]}]*)?",
    re.IGNORECASE,
)

_PERMISSION = re.compile(
    r"\ballowed[-_ ]tools?\b[^\n.]*|\b(?:permission[-_ ]?mode|default[-_ ]?mode|permissions?)\s*[:=][^\n.]*"
    r"|\b(?:Bash|Edit|Write|Read|WebFetch|WebSearch|NotebookEdit|Task|mcp__\w+)\([^)\n]*\)"
    r"|--?(?:dangerously-\w[\w-]*|no-verify|force(?:-with-lease)?|yolo|full-auto|yes|insecure|trust-\w+|allow-\w[\w-]*"
    r"|skip-\w[\w-]*|no-sandbox|privileged)\b"
    r"|\b(?:skip|bypass|omit|ignore|suppress|disable|turn off|deactivate|circumvent|override|waive|auto-?accept"
    r"|auto-?approve|automatically (?:accept|approve|confirm))(?:s|ing)? (?:\w+ ){0,3}?(?:confirmations?|approvals?"
    r"|permissions?|prompts?|sandbox\w*|safety|safeguards?|guardrails?|hooks?|review|warnings?|verification|checks?"
    r"|protections?|restrictions?|polic(?:y|ies)|authori[sz]ation|authentication|(?:previous|prior|earlier|other|all)"
    r" (?:\w+ )?(?:instructions?|rules?))\b"
    r"|\bwithout (?:\w+ ){0,2}?(?:asking|confirm\w*|approval|permission|consent|prompting|checking with|waiting for)\b"
    r"|\b(?:do not|don['’]t|never|no need to|need not) (?:to )?(?:ask|wait|prompt|check with|require|request|seek)\b"
    r"(?: (?:\w+ ){0,4}?(?:confirm\w*|approval|permission|consent|first|before|anyone|the (?:user|person)|me)\b"
    r"|(?=\s*(?:[.;,!]|and\b|$)))"
    r"|\b(?:grant|give|allow|permit|authori[sz]e)(?:s|ing)? (?:\w+ ){0,3}?(?:access|permissions?|rights?|privileges?)\b"
    r"|\b(?:as|with) (?:root|admin(?:istrator)?)\b(?: (?:rights|privileges|access))?"
    r"|\b(?:root|admin) (?:rights|access)\b"
    r"|\b(?:assume|treat|consider) (?:\w+ ){0,4}?(?:consent|approval|approved|confirmed|permission)\b"
    r"|\b(?:upload|send|post|forward|e-?mail|exfiltrate|leak|share|transmit|copy) (?:\w+ ){0,6}?(?:secrets?|tokens?"
    r"|passwords?|credentials?|api[- ]keys?|private keys?|\.env|environment variables?|ssh keys?)\b"
    r"|\b(?:read|print|show|include|reveal|dump|output) (?:\w+ ){0,4}?(?:secrets?|passwords?|credentials?|api[- ]keys?"
    r"|private keys?|\.env|ssh keys?)\b",
    re.IGNORECASE,
)
_PROHIBITION = re.compile(
    r"(?:\b(?:never|do not|don['’]t|must not|should not|shouldn['’]t|may not|avoid|refrain from)) (?:ever )?"
    r"(?:us(?:e|ing)|run(?:ning)?|call(?:ing)?|execut(?:e|ing)|suggest(?:ing)?|recommend(?:ing)?|mention(?:ing)?"
    r"|includ(?:e|ing)|link(?:ing)? to|visit(?:ing)?|contact(?:ing)?|propos(?:e|ing)|skip(?:ping)?|bypass(?:ing)?"
    r"|disabl(?:e|ing)|ignor(?:e|ing)|shar(?:e|ing)|send(?:ing)?|upload(?:ing)?|print(?:ing)?|reveal(?:ing)?|grant(?:ing)?"
    r"|read(?:ing)?|show(?:ing)?|act(?:ing)?|proceed(?:ing)?|delet(?:e|ing)|edit(?:ing)?|commit(?:ting)?|push(?:ing)?)\b"
    r"(?:(?!\b(?:and|but|instead|then|unless|except|other than|rather than|apart from|besides|only|until)\b)[^,;:!?\n]"
    r"(?<!\.(?=\s)))*",
    re.IGNORECASE,
)
"""A clause that forbids something ("never use sudo"). It ends where another thought could begin."""


def powers(text: str) -> tuple[Power, ...]:
    """Commands, addresses and permissions in a text, each once, in order of kind; what the text forbids is none."""
    plain = _PROHIBITION.sub(" ", text)
    found = [
        *(Power(kind="command", text=_plain(command)) for command in _commands(plain)),
        *(Power(kind="address", text=_address(match.group())) for match in _ADDRESS.finditer(plain)),
        *(Power(kind="permission", text=_plain(match.group())) for match in _PERMISSION.finditer(plain)),
    ]
    return tuple(dict.fromkeys(power for power in found if power.text))


class Allowed:
    """What a person has typed, and what it therefore allows in a rule.

    A command or a permission is allowed where a person typed the very same words, an address where a person typed it,
    or a longer one that begins with it at a border ("docs.example.com" is allowed by "docs.example.com/guide").
    """

    def __init__(self, typed: Iterable[str]) -> None:
        texts = [_PROHIBITION.sub(" ", text) for text in typed]
        self._typed = [f" {_plain(_CODE_MARK.sub(' ', text))} " for text in texts]
        self._addresses = {_address(match.group()) for text in texts for match in _ADDRESS.finditer(text)}

    def missing(self, text: str) -> tuple[Power, ...]:
        """The powers of a text that nobody has typed."""
        return tuple(power for power in powers(text) if not self._covers(power))

    def _covers(self, power: Power) -> bool:
        if power.kind == "address":
            return any(
                typed == power.text or (typed.startswith(power.text) and typed[len(power.text)] in "/:?#")
                for typed in self._addresses
            )
        words = re.compile(rf"(?<![\w/.-]){re.escape(power.text)}(?![\w/-])")
        return any(words.search(typed) for typed in self._typed)


_CODE_MARK = re.compile(r"[`~]+|^\s*[$>]\s", re.MULTILINE)


def _commands(text: str) -> Iterable[str]:
    for code in _CODE.finditer(text):
        for line in (code["block"] or code["span"] or "").splitlines():
            command = _LINE_COMMAND.match(line)
            if command:
                yield command["command"]
    prose = _CODE.sub(" ", text)
    for line in prose.splitlines():
        if re.match(r"\s*[$%]\s+\S", line):
            yield line.strip().lstrip("$% ")
    yield from (match["ordered"] or match.group() for match in _PROSE_COMMAND.finditer(prose))
    yield from (match.group() for match in _PIPE.finditer(text))
    yield from (match.group() for match in _SUBSTITUTION.finditer(text))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" ,;:!?'\"`").rstrip(".")


def _address(text: str) -> str:
    """An address without its scheme, so that http and https are the same; its case counts only where it may not."""
    return re.sub(r"^[a-z][a-z0-9+.-]*://", "", text.casefold()).rstrip(".,;:!?/'\"")

"""Where a secret stands: what a person writes around a token, and what a transport makes of the whole text."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from urllib.parse import quote

Form = Callable[[str], str]


def _in_three(token: str) -> tuple[str, str, str]:
    """Broken where a terminal or a mail client breaks: never inside the public prefix."""
    first, second = max(20, len(token) // 3), max(26, 2 * len(token) // 3)
    return token[:first], token[first:second], token[second:]


def _wrapped(token: str) -> str:
    return "It prints\n" + "\n".join(part for part in _in_three(token) if part) + "\nand then stops."


def _wrapped_indented(token: str) -> str:
    return "Token:\n" + "\n".join(f"    {part}" for part in _in_three(token) if part) + "\n\nWhat now?"


def _continued(token: str) -> str:
    return "curl https://api.example.org/me?x=" + "\\\n".join(part for part in _in_three(token) if part) + "\n"


def _concatenated(token: str) -> str:
    return "value = (\n" + "\n".join(f'    "{part}"' for part in _in_three(token) if part) + "\n)\n"


def _added(token: str) -> str:
    return "const v = " + " +\n  ".join(f"'{part}'" for part in _in_three(token) if part) + ";\n"


TOKEN_FORMS: dict[str, Form] = {
    "bare": lambda token: token,
    "prose": lambda token: f"I tried it with {token}, and it still says 401. Any idea?",
    "end of sentence": lambda token: f"The one from the dashboard is {token}.",
    "parentheses": lambda token: f"Use the old one ({token}) until Monday.",
    "backticks": lambda token: f"Set it to `{token}` in the console.",
    "chinese prose": lambda token: f"我用的是{token}，还是报错。",
    "japanese prose": lambda token: f"「{token}」を使っています。",
    "russian prose": lambda token: f"Вот он: {token} — проверь, пожалуйста.",
    "python": lambda token: f'client = Client("{token}", timeout=30)',
    "javascript": lambda token: f"const client = new Client('{token}');",
    "env": lambda token: f"FOO=1\nMY_VALUE={token}\nBAR=two",
    "export": lambda token: f'export THING="{token}" && make run',
    "yaml": lambda token: f"env:\n  - name: THING\n    value: {token}\n",
    "xml": lambda token: f"<value>{token}</value>",
    "table": lambda token: f"| service | value |\n|---|---|\n| prod | {token} |",
    "query": lambda token: f"GET https://api.example.org/v1/x?a=1&v={token}&b=2",
    "path": lambda token: f"https://api.example.org/bot/{token}/send",
    "header": lambda token: f"X-Custom: {token}\r\nAccept: */*",
    "log": lambda token: f"2026-03-01T10:00:00Z WARN auth rejected credential={token} status=401",
    "diff": lambda token: f"-value: old\n+value: {token}\n",
    "wrapped": _wrapped,
    "wrapped, indented": _wrapped_indented,
    "continued": _continued,
    "adjacent literals": _concatenated,
    "added literals": _added,
}


def _json(text: str) -> str:
    return json.dumps({"type": "text", "text": text})


def _json_in_json(text: str) -> str:
    return json.dumps({"arguments": json.dumps({"content": text}), "name": "write"})


def _json_thrice(text: str) -> str:
    return json.dumps({"line": _json_in_json(text)})


def _escaped_unicode(text: str) -> str:
    return json.dumps([text], ensure_ascii=True)


def _url_encoded(text: str) -> str:
    return "POST /submit body=" + quote(text, safe="")


def _quoted_mail(text: str) -> str:
    return textwrap.indent(text, "> ", lambda _: True)


def _in_a_diff(text: str) -> str:
    return textwrap.indent(text, "+", lambda _: True)


def _numbered(text: str) -> str:
    return "\n".join(f"{number:6}\t{line}" for number, line in enumerate(text.split("\n"), 1))


ENVELOPES: dict[str, Form] = {
    "plain": lambda text: text,
    "json": _json,
    "json in json": _json_in_json,
    "json, three deep": _json_thrice,
    "unicode escapes": _escaped_unicode,
    "url encoded": _url_encoded,
    "quoted mail": _quoted_mail,
    "diff": _in_a_diff,
    "numbered lines": _numbered,
}

r"""A text as its reader will see it, and the way back: escapes undone, and lines joined that a terminal broke.

A secret in a form body is percent-encoded, one in a logged request has its label as `\u5bc6\u7801`, one in a mail is
folded, one in code is glued from literals. No pattern should have to know all that. So patterns are tried on the text
and on such a view of it, and what they find in the view is masked where it stands in the text.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote

from skillopt_sleep.redact.values import compiled

_ESCAPE = r"(?a)%[0-7][0-9A-Fa-f]|(?:%[89A-Fa-f][0-9A-Fa-f])++|(?<!\\)\\++(?:u[0-9A-Fa-f]{4}|[nrt])"
"""Percent-encoding (the bytes of characters beyond ASCII go together), and what JSON escapes, at any depth."""
_LETTERS = {"n": "\n", "r": "\r", "t": "\t"}

_BODY = "[A-Za-z0-9_+/~.-]"
_QUOTE = r"\\{0,15}[\"'`]"
_SPACE = r"[ \t]{0,24}"
_BREAK = rf"\r?\n{_SPACE}(?:(?:[>|+]|\d{{1,6}}\t){_SPACE}){{0,2}}"
"""A line's end and the margin of the next, with what mail, diffs and listings put there."""
_PLUS = rf"{_SPACE}(?:[+.]{_SPACE})?"
_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-"
_UNLIKE_WORDS = rf"{_BODY}{{0,200}}?(?:\d|[a-z][A-Z]|[A-Z]{{2}}[a-z])"
_JOINTS = (
    rf"(?<=[A-Za-z0-9_+/~.:-]{{14}})(?:"
    rf"{_QUOTE}{_PLUS}(?:{_BREAK})?{_PLUS}{_QUOTE}(?={_BODY}{{3,}}+={{0,2}}{_QUOTE})"
    rf"|\\{{1,15}}{_SPACE}{_BREAK}(?!--|-[A-Za-z]\s)(?={_BODY}{{3}})"
    rf"|{_BREAK}(?!{_UUID})%s(?={_BODY}{{3,}}+={{0,2}}(?:{_QUOTE})?[ \t]{{0,8}}(?:[\r\n]|\Z))"
    r")"
)
"""Where one long word goes on: between literals, after a continued line, or on a next line that holds nothing else: an
identifier there is not the rest of a token."""
_JOINT, _DOUBTFUL_JOINT = _JOINTS % f"(?={_UNLIKE_WORDS})", _JOINTS % ""
"""Nor is a word, in case of doubt."""

_BEFORE_A_JOINT = r"[A-Za-z0-9_+/~.:-]{14}[\"'`\\\r\n]"
"""What stands before each joint, in fewer steps: most texts hold none."""

_MAX_FOLDS = 4
"""A joint is seen by the long word before it, and so the next one only when that is joined: a token has few lines."""


@dataclass(frozen=True, slots=True)
class View:
    """`text` was made by replacing some stretches of the original, or of an earlier view of it."""

    text: str
    _starts: tuple[int, ...]
    """Where each piece begins in `text`; the first begins at 0."""
    _origins: tuple[tuple[int, int, bool], ...]
    """For each piece: its start and end in what it was made from, and whether it was copied as it is."""
    _earlier: View | None

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the original that became `text[start:end]`, whole escapes included."""
        first, last = bisect.bisect_right(self._starts, start) - 1, bisect.bisect_right(self._starts, end - 1) - 1
        begin, _, copied = self._origins[first]
        if copied:
            begin += start - self._starts[first]
        origin, finish, copied = self._origins[last]
        if copied:
            finish = origin + end - self._starts[last]
        return self._earlier.original(begin, finish) if self._earlier else (begin, finish)


def views(text: str) -> tuple[tuple[View, ...], View | None]:
    """With escapes undone, and with long words joined, too; and with words joined that may belong together.

    Only views that show something new.
    """
    plain = _replaced(text, _ESCAPE, _meant, None) if "%" in text or "\\" in text else None
    joined, doubtful = _joined(text, _JOINT, plain), _joined(text, _DOUBTFUL_JOINT, plain)
    same = doubtful is None or (joined is not None and joined.text == doubtful.text)
    return tuple(view for view in (plain, joined) if view), None if same else doubtful


def _joined(text: str, joint: str, earlier: View | None) -> View | None:
    view = earlier
    for _ in range(_MAX_FOLDS):
        seen = view.text if view else text
        whole = _replaced(seen, joint, lambda _: "", view) if compiled(_BEFORE_A_JOINT).search(seen) else None
        if not whole:
            break
        view = whole
    return view if view is not earlier else None


def _replaced(text: str, pattern: str, by: Callable[[re.Match[str]], str], earlier: View | None) -> View | None:
    """None where the pattern matches nowhere."""
    pieces: list[str] = []
    starts: list[int] = []
    origins: list[tuple[int, int, bool]] = []
    done = length = 0

    def add(piece: str, start: int, end: int, copied: bool) -> None:
        nonlocal length
        if piece:
            pieces.append(piece)
            starts.append(length)
            origins.append((start, end, copied))
            length += len(piece)

    for match in compiled(pattern).finditer(text):
        add(text[done : match.start()], done, match.start(), True)
        add(by(match), *match.span(), False)
        done = match.end()
    if not done:
        return None
    add(text[done:], done, len(text), True)
    return View("".join(pieces), tuple(starts), tuple(origins), earlier)


def _meant(escape: re.Match[str]) -> str:
    found = escape[0]
    if found[0] == "%":
        return unquote(found, errors="replace")
    letter = found.lstrip("\\")
    return _LETTERS.get(letter) or chr(int(letter[1:], 16))

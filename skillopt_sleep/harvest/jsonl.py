"""One tolerant reader of JSON Lines: streams bytes, survives anything in them, and says what it left out and why."""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterator
from typing import BinaryIO

from skillopt_sleep.domain.sessions import LineSkipReason

MAX_LINE_BYTES = 8 * 1024 * 1024
"""Longer lines are dumped tool output; reading one would cost memory and give no text."""

MAX_PARSED_BYTES = 4 * 1024 * 1024
"""What is left of a line without its pasted files. Parsing can take ten times as much memory: one emoji makes a string
of four bytes a character, and the line is there as bytes, as text and as objects."""

_LONG_LINE = 256 * 1024
_PASTED_FILE = re.compile(rb'"data":"[A-Za-z0-9+/=_-]{1024,}"')
"""An image or a document in base64. In a string the quotes would be escaped, so this is a key and its value."""

JsonObject = dict[str, object]


def _keep_all(_: bytes) -> bool:
    return False


class JsonlReader:
    """Iterates over the objects of a JSON Lines stream, once.

    `cannot_matter` sees a raw line and may say that parsing it is needless; such a line is neither an object nor a
    fault. It must be sure: the reader does not look at the line again. At any time one line of at most `max_line` bytes
    is held in memory. The stream may stand anywhere; `offset` tells where, if it began at `offset`. Raises what reading
    the stream raises (`OSError`).
    """

    def __init__(
        self,
        stream: BinaryIO,
        *,
        cannot_matter: Callable[[bytes], bool] = _keep_all,
        max_line: int = MAX_LINE_BYTES,
        offset: int = 0,
    ) -> None:
        self._stream = stream
        self._cannot_matter = cannot_matter
        self._max_line = max_line
        self.row_offset = offset
        """Where the row began that was handed out last."""
        self.offset = offset
        """Up to where the stream was read."""
        self.lines = 0
        """Lines seen so far, blank ones left out."""
        self.skipped: Counter[LineSkipReason] = Counter()
        """Lines left out so far. The consumer adds its own reasons for objects that do not look as it expects."""

    def __iter__(self) -> Iterator[JsonObject]:
        read_line, cannot_matter, limit = self._stream.readline, self._cannot_matter, self._max_line + 1
        while line := read_line(limit):
            at = self.offset
            self.offset = at + len(line)
            if cannot_matter(line):  # most lines
                self.lines += 1
            elif len(line) == limit:
                self.lines += 1
                self._drop_rest_of(line)
                self.skipped["odd_shape"] += 1
            elif not line.isspace():
                self.lines += 1
                row = self._parse(line)
                if row is not None:
                    self.row_offset = at
                    yield row

    def _drop_rest_of(self, line: bytes) -> None:
        while line and not line.endswith(b"\n"):
            line = self._stream.readline(64 * 1024)
            self.offset += len(line)

    def _parse(self, line: bytes) -> JsonObject | None:
        if len(line) > _LONG_LINE:
            line = _PASTED_FILE.sub(b'"data":""', line)
            if len(line) > MAX_PARSED_BYTES:
                self.skipped["odd_shape"] += 1
                return None
        try:
            row = json.loads(line.decode("utf-8-sig" if line.startswith(BOM_UTF8) else "utf-8"))
        except UnicodeDecodeError:
            # Half a character at the very end of a file is a write that was cut off, not a wrong encoding.
            self.skipped["undecodable" if line.endswith(b"\n") else "truncated"] += 1
        except (ValueError, RecursionError):
            # ValueError also covers integers too long to convert; RecursionError is nesting made to hurt.
            self.skipped["not_json" if line.endswith(b"\n") else "truncated"] += 1
        else:
            if isinstance(row, dict):
                return row
            self.skipped["not_object"] += 1
        return None

"""One tolerant reader of JSON Lines: streams bytes, survives anything in them, and says what it left out and why."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import BinaryIO

from skillopt_sleep.domain.sessions import LineSkipReason

MAX_LINE_BYTES = 16 * 1024 * 1024
"""Longer lines are pasted images or dumped tool output; reading one would cost memory and give no text."""

JsonObject = dict[str, object]


def _keep_all(_: bytes) -> bool:
    return False


class JsonlReader:
    """Iterates over the objects of a JSON Lines stream, once.

    `cannot_matter` sees a raw line and may say that parsing it is needless; such a line is neither an object nor a
    fault. It must be sure: the reader does not look at the line again. At any time one line of at most `max_line` bytes
    is held in memory. Raises what reading the stream raises (`OSError`).
    """

    def __init__(
        self,
        stream: BinaryIO,
        *,
        cannot_matter: Callable[[bytes], bool] = _keep_all,
        max_line: int = MAX_LINE_BYTES,
    ) -> None:
        self._stream = stream
        self._cannot_matter = cannot_matter
        self._max_line = max_line
        self.lines = 0
        """Lines seen so far, blank ones left out."""
        self.skipped: Counter[LineSkipReason] = Counter()
        """Lines left out so far. The consumer adds "odd_shape" for objects that do not look as it expects."""

    def __iter__(self) -> Iterator[JsonObject]:
        while line := self._stream.readline(self._max_line + 1):
            if line.isspace():
                continue
            self.lines += 1
            if len(line) > self._max_line:
                self._drop_rest_of(line)
                self.skipped["odd_shape"] += 1
            elif not self._cannot_matter(line):
                row = self._parse(line)
                if row is not None:
                    yield row

    def _drop_rest_of(self, line: bytes) -> None:
        while line and not line.endswith(b"\n"):
            line = self._stream.readline(64 * 1024)

    def _parse(self, line: bytes) -> JsonObject | None:
        try:
            row = json.loads(line.decode("utf-8-sig"))
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

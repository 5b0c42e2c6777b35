from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.harvest.jsonl import JsonlReader


def read(data: bytes, max_line: int = 1000) -> tuple[list[object], dict[str, int]]:
    reader = JsonlReader(io.BytesIO(data), max_line=max_line)
    rows: list[object] = list(reader)
    return rows, {str(reason): count for reason, count in reader.skipped.items()}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"garbage\n", "not_json"),
        (b'{"a": 1,\n', "not_json"),
        (b'{"a": 1}{"b": 2}\n', "not_json"),
        (b"\x00" * 40 + b"\n", "not_json"),
        (b"[" * 900 + b"\n", "not_json"),
        (b'{"n": ' + b"9" * 900 + b"}\n", None),
        (b"[1, 2]\n", "not_object"),
        (b"null\n", "not_object"),
        (b'"text"\n', "not_object"),
        (b'{"a": "\xff\xfe"}\n', "undecodable"),
        (b'{"a": "' + b"x" * 2000 + b'"}\n', "odd_shape"),
        (b'\xef\xbb\xbf{"a": 1}\n', None),
        (b'{"a": 1}\r\n', None),
        (b"\n   \n", None),
    ],
)
def test_a_bad_line_is_counted_and_its_neighbours_are_read(line: bytes, reason: str | None) -> None:
    rows, skipped = read(b'{"first": 1}\n' + line + b'{"last": 1}\n')
    assert rows[0] == {"first": 1}
    assert rows[-1] == {"last": 1}
    assert skipped == ({reason: 1} if reason else {})


@pytest.mark.parametrize("cut", [b'{"a": "hal', b'{"a": "\xe2\x82', b"{", b"nul"])
def test_a_half_written_last_line_is_truncated_and_not_broken(cut: bytes) -> None:
    assert read(b'{"a": 1}\n' + cut) == ([{"a": 1}], {"truncated": 1})


def test_a_whole_last_line_without_a_line_break_is_read() -> None:
    assert read(b'{"a": 1}') == ([{"a": 1}], {})


def test_nesting_and_numbers_made_to_break_the_parser_are_counted() -> None:
    hostile = b'{"a": ' + b"[" * 200_000 + b"\n" + b'{"n": ' + b"9" * 5000 + b"}\n"
    assert read(hostile + b'{"a": 1}\n', max_line=1_000_000) == ([{"a": 1}], {"not_json": 2})


def test_a_line_that_cannot_matter_is_not_parsed_and_not_a_fault() -> None:
    reader = JsonlReader(io.BytesIO(b'{"bulk": broken}\n{"a": 1}\n'), cannot_matter=lambda line: b"bulk" in line)
    assert list(reader) == [{"a": 1}]
    assert (reader.lines, dict(reader.skipped)) == (2, {})


class Endless(io.RawIOBase):
    """A file with one line of `size` bytes, made as it is read."""

    def __init__(self, size: int) -> None:
        self._parts = self._make(size)
        self._rest = b""

    @staticmethod
    def _make(size: int) -> Iterator[bytes]:
        yield b'{"a": "'
        for _ in range(size // 65536):
            yield b"x" * 65536
        yield b'"}\n{"last": 1}\n'

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        self._rest = self._rest or next(self._parts, b"")
        count = min(len(view), len(self._rest))
        view[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def test_a_line_of_fifty_megabytes_is_passed_over_in_bounded_memory() -> None:
    tracemalloc.start()
    try:
        reader = JsonlReader(io.BufferedReader(Endless(50_000_000)), max_line=100_000)
        assert list(reader) == [{"last": 1}]
        assert reader.skipped == {"odd_shape": 1}
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


@settings(max_examples=150, deadline=None)
@given(st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=3), max_size=6), st.data())
def test_every_line_is_either_read_or_counted(rows: list[dict[str, str]], data: st.DataObject) -> None:
    lines = [json.dumps(row).encode() for row in rows]
    for at in data.draw(st.lists(st.integers(0, len(lines)), max_size=3)):
        lines.insert(at, data.draw(st.binary(min_size=1, max_size=30)).replace(b"\n", b"?"))
    lines = [line for line in lines if not line.isspace()]
    read_rows, skipped = read(b"\n".join(lines), max_line=10_000)
    assert len(read_rows) + sum(skipped.values()) == len(lines)
    assert all(row in read_rows for row in rows)

"""Results that fit: clients cut off what is longer, and a model pays for all of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

LONGEST = 28_000
"""Characters of a result as JSON: below 10,000 tokens also where a token is only three of them."""
_CLIPS = (8_000, 2_000, 600, 200)
"""How long one text may be; the next is tried where a result is still too long."""


def page(result: dict[str, Any], places: Sequence[str], offset: int) -> dict[str, Any]:
    """The result with as many items of its list as fit, and a `page` that says where to go on.

    The list is the first that is found at one of these places ("run.report.skills"). Texts that are too long are
    clipped and say so. A result without such a list is only clipped.
    """
    paths = [place.split(".") for place in places]
    path = next((path for path in paths if _at(result, path) is not None), [])
    items = _at(result, path)
    for clip in _CLIPS:
        clipped = _clip(result, clip)
        if items is None:
            if _size(clipped) <= LONGEST:
                return dict(clipped)
            continue
        room = LONGEST - _size(_with(clipped, path, [])) - 200
        shown = _fitting(_at(clipped, path) or [], offset, room)
        if shown or offset >= len(items):
            return {**_with(clipped, path, shown), "page": _note(path, offset, len(shown), len(items))}
    shown = (_at(clipped, path) or [])[offset : offset + 1]
    return clipped if items is None else {**_with(clipped, path, shown), "page": _note(path, offset, 1, len(items))}


def _note(path: Sequence[str], offset: int, shown: int, total: int) -> dict[str, Any]:
    end = offset + shown
    return {
        "of": ".".join(path),
        "offset": offset,
        "shown": shown,
        "total": total,
        "next_offset": end if end < total else None,
    }


def _fitting(items: list[Any], offset: int, room: int) -> list[Any]:
    shown: list[Any] = []
    for item in items[offset:]:
        room -= _size(item) + 2
        if room < 0:
            break
        shown.append(item)
    return shown


def _at(result: Any, path: Sequence[str]) -> list[Any] | None:
    for key in path:
        result = result.get(key) if isinstance(result, dict) else None
    return result if path and isinstance(result, list) else None


def _with(result: dict[str, Any], path: Sequence[str], items: list[Any]) -> dict[str, Any]:
    first, *rest = path
    return {**result, first: _with(result[first], rest, items) if rest else items}


def _clip(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        value = value.encode("utf-8", "replace").decode("utf-8")  # a file name that is not UTF-8 is no JSON
        left = len(value) - longest
        return value if left <= 0 else f"{value[:longest]} [... {left} more characters: see the resource]"
    if isinstance(value, dict):
        return {key: _clip(item, longest) for key, item in value.items()}
    return [_clip(item, longest) for item in value] if isinstance(value, list) else value


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False))

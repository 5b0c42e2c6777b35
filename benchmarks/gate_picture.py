"""The gate's operating characteristic as a picture for people who have not studied statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

Point = tuple[float, float]

WIDTH: Final = 860
HEIGHT: Final = 560
LEFT: Final = 88
RIGHT: Final = 190
TOP: Final = 108
BOTTOM: Final = 96
LOW: Final = -0.3
HIGH: Final = 0.45
COLOURS: Final = ("#9ecae1", "#6baed6", "#3182bd", "#08519c", "#08306b")
"""From few families to many; darker is more."""


@dataclass(frozen=True)
class Curve:
    """(true improvement, share of nights in which it is accepted) from left to right."""

    name: str
    points: Sequence[Point]


def picture(curves: Sequence[Curve], naive: Curve) -> str:
    """An SVG that stands on its own, light background included."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'role="img" aria-labelledby="title what" font-family="system-ui, sans-serif" font-size="14" fill="#222">',
        '<title id="title">How often the gate accepts an edit, by how good the edit really is</title>',
        '<desc id="what">One curve for each number of task families. All are close to zero for edits that harm or do '
        "nothing, and rise with the true improvement, the more steeply the more families there are.</desc>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _text(LEFT, 32, "How often is an edit accepted?", size=21, weight="600"),
        _text(
            LEFT, 56, "Each curve: what the gate does with so many kinds of tasks to try the edit on.", colour="#555"
        ),
        _zone(LOW, -0.015, "#fdecea", "harmful", "should never pass"),
        _zone(0.015, HIGH, "#eef6ec", "helpful", "should pass"),
        *_axes(),
        _line(naive.points, "#b2182b", dash="3 5"),
        *(_line(curve.points, colour) for curve, colour in zip(curves, COLOURS, strict=False)),
        *_labels(curves, naive),
        *_notes(),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _x(gain: float) -> float:
    return LEFT + (gain - LOW) / (HIGH - LOW) * (WIDTH - LEFT - RIGHT)


def _y(share: float) -> float:
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def _text(
    x: float, y: float, words: str, *, size: int = 14, colour: str = "#222", anchor: str = "start", weight: str = "400"
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}" '
        f'font-weight="{weight}">{escape(words)}</text>'
    )


def _zone(start: float, stop: float, colour: str, name: str, wish: str) -> str:
    middle = (_x(start) + _x(stop)) / 2
    return (
        f'<rect x="{_x(start):.1f}" y="{TOP - 30}" width="{_x(stop) - _x(start):.1f}" '
        f'height="{HEIGHT - TOP - BOTTOM + 30}" fill="{colour}"/>'
        + _text(middle, TOP - 11, f"{name}: {wish}", size=13, colour="#666", anchor="middle")
    )


def _axes() -> list[str]:
    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{_y(share):.1f}" y2="{_y(share):.1f}" stroke="#ddd"/>'
        )
        parts.append(_text(LEFT - 10, _y(share) + 5, f"{share * 100:.0f}", anchor="end"))
    for gain in (-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3, 0.4):
        label = "no change" if gain == 0 else f"{gain * 100:+.0f}"
        parts.append(_text(_x(gain), HEIGHT - BOTTOM + 22, label, anchor="middle"))
    parts.append(
        f'<line x1="{_x(0):.1f}" x2="{_x(0):.1f}" y1="{TOP - 30}" y2="{HEIGHT - BOTTOM}" stroke="#999" '
        'stroke-dasharray="2 3"/>'
    )
    height = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(
        f'<g transform="rotate(-90 24 {height:.0f})">'
        + _text(24, height, "accepted in so many of 100 nights", anchor="middle")
        + "</g>"
    )
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(
        _text(
            middle,
            HEIGHT - BOTTOM + 44,
            "what the edit truly does: passed attempts in 100, more or fewer",
            anchor="middle",
        )
    )
    return parts


def _line(points: Sequence[Point], colour: str, dash: str = "") -> str:
    inside = [(x, y) for x, y in sorted(points) if LOW <= x <= HIGH]
    path = " ".join(f"{_x(x):.1f},{_y(y):.1f}" for x, y in inside)
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.6"{dashes}/>'


def _labels(curves: Sequence[Curve], naive: Curve) -> list[str]:
    """A key at the right, in the order in which the curves end."""
    x = WIDTH - RIGHT + 14
    parts = [_text(x, TOP + 4, "kinds of tasks", size=13, colour="#666")]
    for number, (curve, colour) in enumerate(reversed(list(zip(curves, COLOURS, strict=False)))):
        y = TOP + 30 + number * 26
        parts.append(f'<line x1="{x}" x2="{x + 26}" y1="{y - 5}" y2="{y - 5}" stroke="{colour}" stroke-width="4"/>')
        parts.append(_text(x + 34, y, curve.name))
    y = TOP + 30 + len(curves) * 26 + 16
    dashed = 'stroke="#b2182b" stroke-width="3" stroke-dasharray="3 5"'
    parts.append(f'<line x1="{x}" x2="{x + 26}" y1="{y - 5}" y2="{y - 5}" {dashed}/>')
    first, _, rest = naive.name.partition(", ")
    return [
        *parts,
        _text(x + 34, y, "the usual way:"),
        _text(x + 34, y + 19, rest),
        _text(x + 34, y + 38, f"({first})"),
    ]


def _notes() -> list[str]:
    return [
        _text(
            LEFT,
            HEIGHT - 16,
            "Simulated: three attempts a task before and after; first test on these tasks; pass rates .3 to .7.",
            size=12,
            colour="#666",
        )
    ]

"""A transfer experiment in words, as Markdown, and as a self-contained HTML page with a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from skillopt_sleep.domain.transfers import Cell, TransferReport
from skillopt_sleep.report import words
from skillopt_sleep.report.text import md, one_line

_COLUMNS = ("deployed on", "skill", "passed", "lift", "90 % interval", "p", "retention", "cost per solved")


def columns() -> tuple[str, ...]:
    """Heads of the table."""
    return _COLUMNS


def rows(report: TransferReport) -> list[tuple[str, ...]]:
    """The table: one row a cell, by deploy model."""
    return [_row(report, cell) for cell in report.cells]


def summary(report: TransferReport) -> str:
    """Harm first, then what is missing, then the recommendation and what it rests on."""
    said = harms(report)
    said += [f"Partial, figures are missing: {one_line(report.partial)}."] if report.partial else []
    said.append(report.recommendation)
    if report.simulated:
        said.append("Simulated: figures here rest on a simulated model.")
    return " ".join(said)


def harms(report: TransferReport) -> list[str]:
    """What a learned skill, or the placebo, makes worse; and a placebo that shows a gain."""
    found = [
        f"HARM: {cell.name} makes {cell.deploy} worse by {-(cell.lift or 0.0) * 100:.0f} points."
        for cell in report.cells
        if cell.harmful and cell.kind in ("learned", "placebo")
    ]
    return found + [
        f"The placebo shows a gain on {cell.deploy}: do not trust the gains of this experiment."
        for cell in report.cells
        if cell.kind == "placebo" and cell.interval is not None and cell.interval[0] > 0.0
    ]


def notes(report: TransferReport) -> list[str]:
    """Everything else that one has to know to read the figures."""
    said = [
        f"{lesson.model}: {'learned' if lesson.learned else 'nothing learned'}. {one_line(lesson.error or lesson.says)}"
        for lesson in report.lessons
    ]
    said.append(
        f"{report.test_families} families of sealed test tasks, each tried {report.samples} x. Grader: {report.grader}."
    )
    if report.self_graded:
        said.append(f"Graded their own answers: {', '.join(report.self_graded)}.")
    if report.shape_only:
        said.append("Shape only: a model wrote all checks, and they constrain form alone; nothing is certified.")
    elif report.exploratory:
        said.append("Exploratory: too few test families for p-values; take intervals as rough.")
    else:
        said.append("p is one-sided, exact, and corrected after Holm over all learned and placebo cells.")
    for cell in report.cells:
        if cell.error is not None:
            said.append(f"Missing: {cell.name} on {cell.deploy}: {one_line(cell.error)}.")
        elif cell.missing_pairs:
            said.append(f"{cell.name} on {cell.deploy}: {cell.missing_pairs} pairs of attempts have no two scores.")
    spent = words.money(words.total_usd(report.spend), simulated=report.simulated)
    calls = sum(row.calls for row in report.spend)
    cached = sum(row.cached for row in report.spend)
    said.append(f"{calls:,} calls, {cached:,} from the cache; {spent}.")
    return said


def markdown(report: TransferReport) -> str:
    """The report as Markdown."""
    lines = [
        f"# Transfer of {md(report.skill)}",
        "",
        md(summary(report)),
        "",
        f"| {' | '.join(_COLUMNS)} |",
        f"|{'---|' * len(_COLUMNS)}",
        *(f"| {' | '.join(md(cell) for cell in row)} |" for row in rows(report)),
        "",
        *(f"- {md(note)}" for note in notes(report)),
    ]
    for lesson in report.lessons:
        if lesson.edits:
            lines += ["", f"## Learned on {md(lesson.model)}", "", *(f"- {md(edit)}" for edit in lesson.edits)]
    return "\n".join(lines) + "\n"


def _row(report: TransferReport, cell: Cell) -> tuple[str, ...]:
    if cell.mean is None:
        return (cell.deploy, cell.name, "missing", "", "", "", "", "")
    lift = "" if cell.lift is None else f"{_points(cell.lift)} points"
    p = "" if cell.p_value is None else "<0.001" if cell.p_value < 0.001 else f"{cell.p_value:.3f}"
    unpriced = cell.usd_per_solved is None or report.simulated
    cost = "" if unpriced else words.money(cell.usd_per_solved, simulated=False)
    kept = "" if cell.retention is None else f"{cell.retention:.2f}"
    interval = "" if cell.interval is None else words.points(cell.interval)
    return (cell.deploy, cell.name, words.percent(cell.mean), lift, interval, p, kept, cost)


def _points(share: float) -> str:
    """A difference of shares in points, with its sign; what rounds to nothing has none below zero."""
    return f"{round(share * 100) + 0:+d}"


# The page -------------------------------------------------------------------------------------------------------------

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1f; --soft: #5b5b66; --paper: #ffffff; --line: #d5d5dd; --track: #eeeef3 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ececf1; --soft: #a5a5b2; --paper: #17171c; --line: #3a3a45; --track: #26262e } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif }
h1 { font-size: 1.5rem; margin: 0 0 .5rem } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem }
.harm { border-left: .3rem solid #b3261e; padding: .3rem .8rem; font-weight: 600 }
.note, figcaption { color: var(--soft); font-size: .9rem }
figure { margin: 1rem 0 } figcaption { margin-top: .5rem } svg { width: 100%; height: auto; display: block }
svg text { fill: var(--ink); font: 13px system-ui, sans-serif } svg .small { font-size: 11px; fill: var(--soft) }
svg .on { fill: #111 } svg .on.small { fill: #333 } svg .bar { stroke: #111 } svg .axis { stroke: #8a8a94 }
.wide { overflow-x: auto } table { border-collapse: collapse; width: 100%; font-size: .9rem }
th, td { text-align: left; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top }
td { font-variant-numeric: tabular-nums }
@media (max-width: 44rem) {
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  tr { display: grid; grid-template-columns: 1fr 1fr; gap: 0 .8rem; border-bottom: 1px solid var(--line);
    padding: .5rem 0 }
  td { border: 0; padding: .05rem 0 } td:nth-child(-n+2) { grid-column: 1 / -1 } td:nth-child(2) { font-weight: 600 }
  td:nth-child(n+3)::before { content: attr(data-label) " "; color: var(--soft) } td:empty { display: none } }
@media print { :root { --ink: #000; --soft: #444; --paper: #fff; --line: #999 } body { max-width: none }
  .wide { overflow: visible } tr, figure { break-inside: avoid } svg { print-color-adjust: exact } }
"""
_WORST, _NONE, _BEST = (230, 145, 56), (236, 236, 240), (96, 165, 220)
"""Orange, grey, blue: told apart with any kind of colour vision, and in grey by the figures that stand in each cell."""


def html(report: TransferReport) -> str:
    """The page."""
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>",
        f"<title>Transfer of {_text(report.skill)}</title><style>{_STYLE}</style>",
        f"<h1>Transfer of {_text(report.skill)}</h1>",
        *(f"<p class=harm>{_text(harm)}</p>" for harm in harms(report)),
        f"<p><strong>{_text(report.recommendation)}</strong></p>",
    ]
    if report.partial:
        parts.append(f"<p class=harm>Partial, figures are missing: {_text(report.partial)}</p>")
    if report.simulated:
        parts.append("<p>Simulated: figures here rest on a simulated model.</p>")
    parts += [
        "<h2>Passed sealed tasks</h2>",
        f"<figure><div class=wide>{_heat_map(report)}</div><figcaption>Rows are skills, columns the models they are "
        "deployed on. Blue is better than the original skill on the same model, orange worse. Below the share that "
        "passed stands the 90 % interval of the difference in points, and as a line from -100 to +100, with its middle "
        "at no difference.</figcaption></figure>",
        "<h2>All figures</h2><div class=wide><table><thead><tr>",
        *(f"<th>{_text(head)}</th>" for head in _COLUMNS),
        "</tr></thead><tbody>",
        *(
            "<tr>"
            + "".join(
                f'<td data-label="{_text(head)}">{_text(cell)}</td>' for head, cell in zip(_COLUMNS, row, strict=True)
            )
            + "</tr>"
            for row in rows(report)
        ),
        "</tbody></table></div>",
        "<h2>How to read this</h2>",
        *(f"<p class=note>{_text(note)}</p>" for note in notes(report)),
    ]
    for lesson in report.lessons:
        if lesson.edits:
            edits = "".join(f"<li>{_text(edit)}</li>" for edit in lesson.edits)
            parts.append(f"<h2>Learned on {_text(lesson.model)}</h2><ul>{edits}</ul>")
    return "\n".join(parts) + "\n"


_WIDTH, _HEIGHT, _LABEL, _TOP = 128, 62, 24, 40
"""Of a cell, of the line above each row that names its skill in full, and of the heads of the columns."""


def _heat_map(report: TransferReport) -> str:
    """The matrix as a drawing. It never shrinks below readable letters: where there is no room, it scrolls."""
    names = list(dict.fromkeys(_of_row(cell) for cell in report.cells))
    cells = {(_of_row(cell), cell.deploy): cell for cell in report.cells}
    longest = max(len(name) for name in names) * 7.5
    width = max(_WIDTH * len(report.deployed_on), longest)
    drawn = [
        f'<svg viewBox="0 0 {width:.0f} {_TOP + (_HEIGHT + _LABEL) * len(names)}" role="img" '
        f'style="min-width:{0.85 * width:.0f}px;max-width:{1.25 * width:.0f}px" aria-label="{_text(summary(report))}">'
    ]
    for column, deploy in enumerate(report.deployed_on):
        middle = _WIDTH * (column + 0.5)
        backend, _, model = deploy.partition(":")
        for place, text in enumerate((f"{backend}:", model) if model else ("", backend)):
            drawn.append(
                f'<text class="{"" if place else "small"}" x="{middle}" y="{14 + 17 * place}" text-anchor="middle">'
                f"<title>{_text(deploy)}</title>{_text(_short(text, 17))}</text>"
            )
    for row, name in enumerate(names):
        y = _TOP + (_HEIGHT + _LABEL) * row
        drawn.append(f'<text x="2" y="{y + 17}">{_text(name)}</text>')
        for column, deploy in enumerate(report.deployed_on):
            drawn += _square(cells.get((name, deploy)), _WIDTH * column, y + _LABEL)
    return "".join((*drawn, "</svg>"))


def _square(cell: Cell | None, x: float, y: float) -> list[str]:
    middle = x + _WIDTH / 2
    box = f'x="{x + 2}" y="{y + 2}" width="{_WIDTH - 4}" height="{_HEIGHT - 4}" rx="4"'
    if cell is None or cell.mean is None:
        return [
            f'<rect {box} fill="none" stroke="currentColor" stroke-dasharray="4 3"/>',
            f'<text class="small" x="{middle}" y="{y + _HEIGHT / 2 + 4}" text-anchor="middle">missing</text>',
        ]
    lines = [
        f'<rect {box} fill="{_colour(cell.lift or 0.0)}"/>',
        f'<text class="on" x="{middle}" y="{y + 21}" text-anchor="middle">{_text(words.percent(cell.mean))}</text>',
    ]
    if cell.interval is not None and cell.lift is not None:
        low, high = (_points(bound) for bound in cell.interval)
        half = _WIDTH / 2 - 14
        left, right, dot = (middle + half * share for share in (*cell.interval, cell.lift))
        bar = y + _HEIGHT - 12
        lines += [
            f'<text class="on small" x="{middle}" y="{y + 37}" text-anchor="middle">{low} to {high}</text>',
            f'<path class="axis" d="M{middle - half} {bar}H{middle + half}M{middle} {bar - 5}V{bar + 5}"/>',
            f'<path class="bar" stroke-width="3" d="M{left:.1f} {bar}H{max(right, left + 0.5):.1f}"/>',
            f'<circle cx="{dot:.1f}" cy="{bar}" r="4" fill="#111"/>',
        ]
    return lines


def _of_row(cell: Cell) -> str:
    return f"learned on {cell.learned_on}" if cell.kind == "learned" else cell.name


def _colour(lift: float) -> str:
    end: Sequence[int] = _BEST if lift > 0 else _WORST
    share = min(1.0, abs(lift))
    mixed = (round(grey + (other - grey) * share) for grey, other in zip(_NONE, end, strict=True))
    return "#" + "".join(f"{value:02x}" for value in mixed)


def _short(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _text(text: str) -> str:
    return escape(one_line(text))

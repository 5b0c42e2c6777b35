"""A skill document: one managed region that is ours, and everything else, which stays byte for byte as it is.

    <!-- skillopt-sleep:begin lead=2 -->
    ## Learned rules

    - Always end with the ticket number. <!-- rule:3f9c21ab -->
      More lines of the same rule are indented.
    <!-- skillopt-sleep:end -->

`lead` says how many line ends were put before the region, so that a region which loses its last rule can go without a
trace. Edits work on the lines of one rule each; what a person writes into the region by hand stays where it is.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skillopt_sleep.domain.base import sha256_hex, short_hash
from skillopt_sleep.domain.errors import InputError
from skillopt_sleep.domain.skills import AddRule, DropRule, Edit, EditOutcome, EditStatus, Rule
from skillopt_sleep.ruletext import same_rule, tidy, why_unfit

HEADING = "## Learned rules"
_BEGIN = re.compile(r"\s*<!--\s*skillopt-sleep:begin(?:\s+lead=(\d))?\s*-->\s*$")
_END = re.compile(r"\s*<!--\s*skillopt-sleep:end\s*-->\s*$")
_ITEM = re.compile(r"- (?P<text>.*?)\s*<!--\s*rule:(?P<id>[0-9a-z-]+)\s*-->\s*$")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class _Span:
    """Lines [start, stop) of one rule, counted from the beginning of the document."""

    rule: Rule
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class _Region:
    """Numbers of the marker lines, and the line ends that were added before the first."""

    begin: int
    end: int
    lead: int


class SkillDoc:
    """One version of a document. Immutable: `apply` gives a new one."""

    __slots__ = ("_lines", "_region", "_spans", "data", "exists", "path")

    def __init__(self, data: bytes, *, path: Path, exists: bool = True) -> None:
        self.data = data
        self.path = path
        self.exists = exists
        self._lines = _LINE.findall(_decoded(data, path))
        self._region = _find_region(self._lines, path)
        self._spans = _find_rules(self._lines, self._region)

    @classmethod
    def parse(cls, data: bytes, *, path: Path) -> SkillDoc:
        """A document from its bytes. Raises `InputError` for bytes that are not UTF-8, and for damaged markers."""
        return cls(data, path=path)

    @classmethod
    def read(cls, path: Path) -> SkillDoc:
        """The document at `path`; a missing file is an empty document that does not exist yet.

        Raises `InputError`, naming the path, for what cannot be read.
        """
        try:
            return cls(path.read_bytes(), path=path)
        except FileNotFoundError:
            return cls(b"", path=path, exists=False)
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error

    @property
    def sha256(self) -> str | None:
        """Hash of the bytes; None for a file that does not exist."""
        return sha256_hex(self.data) if self.exists else None

    @property
    def text(self) -> str:
        """What an agent sees: the document without a byte order mark."""
        return "".join(self._lines).removeprefix("\ufeff")

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of the managed region, in order."""
        return tuple(span.rule for span in self._spans)

    @property
    def name(self) -> str | None:
        """`name` of the front matter."""
        return self._front_matter("name")

    @property
    def description(self) -> str | None:
        """`description` of the front matter, where it stands on one line."""
        return self._front_matter("description")

    def apply(
        self, edits: Sequence[Edit], *, budget: int, turned_down: Sequence[str] = ()
    ) -> tuple[SkillDoc, tuple[EditOutcome, ...]]:
        """A new document with the edits made, and what became of each of them, in order.

        At most `budget` edits are made. A rule that was turned down before is not added again, not even reworded.
        """
        doc, outcomes, made = self, list[EditOutcome](), 0
        for edit in edits:
            after, outcome = doc._one(edit, turned_down, room=made < budget)
            outcomes.append(outcome)
            made += outcome.status == "applied"
            doc = after
        return doc, tuple(outcomes)

    def _one(self, edit: Edit, turned_down: Sequence[str], *, room: bool) -> tuple[SkillDoc, EditOutcome]:
        span = self._span_of(edit)
        status, detail = self._objection(edit, span, turned_down)
        if status == "applied" and not room:
            status, detail = "over_budget", "more edits than one night may make"
        if status != "applied":
            return self, EditOutcome(edit=edit, status=status, detail=detail)
        if isinstance(edit, AddRule):
            rule = Rule(id=self._new_id(tidy(edit.text)), text=tidy(edit.text))
            return self._with_rule(rule), EditOutcome(edit=edit, status="applied", rule_id=rule.id)
        assert span is not None
        if isinstance(edit, DropRule):
            changed = self._without(span)
        else:
            changed = self._spliced(span, self._rendered(Rule(id=edit.rule_id, text=tidy(edit.text))))
        return changed, EditOutcome(edit=edit, status="applied", rule_id=edit.rule_id)

    def _span_of(self, edit: Edit) -> _Span | None:
        if isinstance(edit, AddRule):
            return None
        return next((span for span in self._spans if span.rule.id == edit.rule_id), None)

    def _objection(self, edit: Edit, span: _Span | None, turned_down: Sequence[str]) -> tuple[EditStatus, str]:
        """Why an edit cannot be made: its status and the reason; "applied" where nothing stands against it."""
        if not isinstance(edit, AddRule) and span is None:
            return "unmatched", f"there is no rule {edit.rule_id!r} in the managed region"
        if isinstance(edit, DropRule):
            return "applied", ""
        if problem := why_unfit(edit.text) or self._no_place():
            return "malformed", problem
        text = tidy(edit.text)
        if self._says(text, besides=span):
            return "no_change", "the document says so already"
        turned = any(same_rule(text, old) for old in turned_down)
        return ("remembered", "this rule was turned down before") if turned else ("applied", "")

    def _no_place(self) -> str | None:
        """Why no region can be added to the document, in words; None where one stands or can be added."""
        if self._region is None and _outside_code(self._lines)[1]:
            return "the document ends inside a code block that is never closed; close it first"
        return None

    def _says(self, text: str, *, besides: _Span | None) -> bool:
        if besides is not None and tidy(besides.rule.text) == text:
            return True
        others = [span.rule.text for span in self._spans if span is not besides]
        if any(same_rule(text, other) for other in others):
            return True
        plain = " ".join(text.split()).casefold()
        outside = "".join(line for number, line in enumerate(self._lines) if not self._inside(number))
        return plain in " ".join(outside.split()).casefold()

    def _inside(self, number: int) -> bool:
        return self._region is not None and self._region.begin <= number <= self._region.end

    def _new_id(self, text: str) -> str:
        taken = {span.rule.id for span in self._spans}
        birth = short_hash(text)
        return next(id_ for id_ in (birth, *(f"{birth}-{n}" for n in range(2, len(taken) + 3))) if id_ not in taken)

    def _with_rule(self, rule: Rule) -> SkillDoc:
        lines = list(self._lines)
        if self._region is not None:
            lines[self._region.end : self._region.end] = self._rendered(rule)
            return self._new(lines)
        end = self._line_end()
        complete = not lines or lines[-1].endswith(("\n", "\r"))
        lead = 0 if not lines else 1 if complete else 2
        opening = [end] * lead + [f"<!-- skillopt-sleep:begin lead={lead} -->{end}", f"{HEADING}{end}", end]
        return self._new([*lines, *opening, *self._rendered(rule), f"<!-- skillopt-sleep:end -->{end}"])

    def _without(self, span: _Span) -> SkillDoc:
        """Without one rule; without the whole region where it was the last and nobody else wrote into it."""
        region = self._region
        assert region is not None
        lines = list(self._lines)
        rest = [*lines[region.begin + 1 : span.start], *lines[span.stop : region.end]]
        if any(line.strip() not in ("", HEADING) for line in rest):
            return self._spliced(span, [])
        before = "".join(lines[: region.begin])
        for _ in range(region.lead):
            before = re.sub(r"(?:\r\n|\n|\r)\Z", "", before, count=1)
        return self._new([before, *lines[region.end + 1 :]])

    def _spliced(self, span: _Span, replacement: Sequence[str]) -> SkillDoc:
        return self._new([*self._lines[: span.start], *replacement, *self._lines[span.stop :]])

    def _new(self, lines: Sequence[str]) -> SkillDoc:
        return SkillDoc("".join(lines).encode("utf-8"), path=self.path, exists=True)

    def _rendered(self, rule: Rule) -> list[str]:
        end = self._line_end()
        first, *more = rule.text.split("\n")
        return [
            f"- {first} <!-- rule:{rule.id} -->{end}",
            *(f"  {line}{end}" if line else end for line in more),
        ]

    def _line_end(self) -> str:
        first = self._lines[0] if self._lines else ""
        return "\r\n" if first.endswith("\r\n") else "\r" if first.endswith("\r") else "\n"

    def _front_matter(self, key: str) -> str | None:
        lines = [line.rstrip("\r\n") for line in self._lines]
        if not lines or lines[0].removeprefix("\ufeff").rstrip() != "---":
            return None
        for line in lines[1:]:
            if line.rstrip() == "---":
                return None
            found = re.match(rf"{key}\s*:\s*(.+)$", line)
            if found:
                return found[1].strip().strip("\"'") or None
        return None


def unified_diff(before: bytes, after: bytes, name: str) -> str:
    """The change as a unified diff with Unix line ends; empty where nothing changed."""
    old, new = (data.decode("utf-8", errors="replace").splitlines() for data in (before, after))
    lines = difflib.unified_diff(old, new, f"{name} (before)", f"{name} (after)", lineterm="")
    return "".join(f"{line}\n" for line in lines)


def _decoded(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text (byte {error.start}).", hint="Save it as UTF-8, then try again."
        ) from error


def _outside_code(lines: Sequence[str]) -> tuple[list[int], bool]:
    """Numbers of the lines outside fenced code, and whether the document ends inside such a block."""
    outside: list[int] = []
    fence: str | None = None
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark and fence is None:
            fence = mark[1]
        elif mark and fence and mark[1][0] == fence[0] and len(mark[1]) >= len(fence):
            fence = None
        elif fence is None:
            outside.append(number)
    return outside, fence is not None


def _find_region(lines: Sequence[str], path: Path) -> _Region | None:
    """The managed region. Markers inside fenced code are text about markers, not markers."""
    begins: list[tuple[int, int]] = []
    ends: list[int] = []
    for number in _outside_code(lines)[0]:
        if begin := _BEGIN.match(lines[number].removeprefix("\ufeff")):
            begins.append((number, int(begin[1] or 0)))
        elif _END.match(lines[number]):
            ends.append(number)
    if not begins and not ends:
        return None
    if len(begins) == 1 and len(ends) == 1 and begins[0][0] < ends[0]:
        return _Region(begin=begins[0][0], end=ends[0], lead=begins[0][1])
    where = sorted({number + 1 for number, _ in begins} | {number + 1 for number in ends})
    raise InputError(
        f"{path}: the markers of the managed region are damaged (lines {', '.join(map(str, where))}).",
        hint="There must be one `skillopt-sleep:begin` line and, after it, one `skillopt-sleep:end` line, or neither.",
    )


def _find_rules(lines: Sequence[str], region: _Region | None) -> tuple[_Span, ...]:
    if region is None:
        return ()
    spans: list[_Span] = []
    number = region.begin + 1
    while number < region.end:
        item = _ITEM.match(lines[number].rstrip("\r\n"))
        start = number
        number += 1
        if item is None:
            continue
        while number < region.end and (lines[number].startswith("  ") or _blank_inside(lines, number, region.end)):
            number += 1
        more = [line.rstrip("\r\n").removeprefix("  ") for line in lines[start + 1 : number]]
        text = "\n".join([item["text"], *more])
        if text.strip():
            spans.append(_Span(Rule(id=item["id"], text=text[:1200]), start, number))
    return tuple(spans)


def _blank_inside(lines: Sequence[str], number: int, end: int) -> bool:
    """A blank line belongs to a rule when an indented line of the same rule follows."""
    rest = (line for line in lines[number:end] if line.strip())
    return not lines[number].strip() and next(rest, "").startswith("  ")

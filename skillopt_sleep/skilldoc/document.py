"""One version of a skill document, the edits it takes, and what changed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from pathlib import Path

from skillopt_sleep.domain.base import sha256_hex
from skillopt_sleep.domain.errors import InputError
from skillopt_sleep.domain.skills import AddRule, DropRule, Edit, EditOutcome, EditStatus, Rule
from skillopt_sleep.ruletext import same_rule, tidy, why_unfit
from skillopt_sleep.skilldoc.layout import (
    BOM,
    Span,
    ends_in_code,
    find_region,
    find_rules,
    free_id,
    front_matter,
    line_end,
    plain_lines,
    split_lines,
    without_lead,
)

HEADING = "## Learned rules"
MOST_BYTES = 1_000_000
"""Larger files are no skills; each attempt would send all of it."""
_Objection = tuple[EditStatus, str]


class SkillDoc:
    """One version of a document. Immutable: `apply` gives a new one."""

    __slots__ = ("_lines", "_region", "_spans", "data", "exists", "path")

    def __init__(self, data: bytes, *, path: Path, exists: bool = True) -> None:
        self.data = data
        self.path = path
        self.exists = exists
        self._lines = split_lines(data, path)
        self._region = find_region(self._lines, path)
        self._spans = find_rules(self._lines, self._region)

    @classmethod
    def parse(cls, data: bytes, *, path: Path) -> SkillDoc:
        """A document from its bytes. Raises `InputError` for bytes that are not UTF-8, and for damaged markers."""
        return cls(data, path=path)

    @classmethod
    def read(cls, path: Path) -> SkillDoc:
        """The document at `path`; a missing file is an empty document that does not exist yet.

        Raises `InputError`, naming the path, for what cannot be read, and for what is too large to be a document that
        an agent reads.
        """
        try:
            if path.stat().st_size > MOST_BYTES:
                raise InputError(f"{path} is larger than {MOST_BYTES // 1000:,} KB, and no agent reads so much.")
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
        return "".join(self._lines).removeprefix(BOM)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of the managed region, in order."""
        return tuple(span.rule for span in self._spans)

    @property
    def name(self) -> str | None:
        """`name` of the front matter."""
        return front_matter(self._lines).get("name")

    @property
    def description(self) -> str | None:
        """`description` of the front matter."""
        return front_matter(self._lines).get("description")

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
        objection = self._objection(edit, span, turned_down)
        if objection is None and not room:
            objection = "over_budget", "more edits than one night may make"
        if objection is not None:
            return self, EditOutcome(edit=edit, status=objection[0], detail=objection[1])
        if isinstance(edit, AddRule):
            rule = Rule(id=self._new_id(tidy(edit.text)), text=tidy(edit.text))
            return self._with_rule(rule), EditOutcome(edit=edit, status="applied", rule_id=rule.id)
        assert span is not None
        if isinstance(edit, DropRule):
            changed = self._without(span)
        else:
            changed = self._spliced(span, self._rendered(Rule(id=edit.rule_id, text=tidy(edit.text))))
        return changed, EditOutcome(edit=edit, status="applied", rule_id=edit.rule_id)

    def _span_of(self, edit: Edit) -> Span | None:
        if isinstance(edit, AddRule):
            return None
        return next((span for span in self._spans if span.rule.id == edit.rule_id), None)

    def _objection(self, edit: Edit, span: Span | None, turned_down: Sequence[str]) -> _Objection | None:
        """Why an edit cannot be made; None where nothing stands against it."""
        if not isinstance(edit, AddRule) and span is None:
            return "unmatched", f"there is no rule {edit.rule_id!r} in the managed region"
        if isinstance(edit, DropRule):
            return None
        text = tidy(edit.text)
        return self._repeated(text, span) or self._unfit(edit.text) or self._known(text, span, turned_down)

    def _repeated(self, text: str, span: Span | None) -> _Objection | None:
        """Text that stands in the document line by line, whatever its case and list marks.

        Whole lines only: "use tables" is not said by a document that says "never use tables".
        """
        if span is not None and tidy(span.rule.text) == text:
            return "no_change", f"rule {span.rule.id!r} reads like this already"
        skipped = range(span.start, span.stop) if span else range(0)
        there = plain_lines(line for number, line in enumerate(self._lines) if number not in skipped)
        wanted = plain_lines(text.split("\n"))
        places = range(len(there) - len(wanted) + 1) if wanted else range(0)
        if any(there[place : place + len(wanted)] == wanted for place in places):
            return "no_change", "the document says so already, word for word"
        return None

    def _unfit(self, text: str) -> _Objection | None:
        if problem := why_unfit(text):
            return "malformed", problem
        if self._region is None and ends_in_code(self._lines):
            return "malformed", "the document ends inside a code block that is never closed; a rule would not be seen"
        return None

    def _known(self, text: str, span: Span | None, turned_down: Sequence[str]) -> _Objection | None:
        for other in self._spans:
            if other is not span and same_rule(text, other.rule.text):
                return "no_change", f"rule {other.rule.id!r} says so already"
        if any(same_rule(text, old) for old in turned_down):
            return "remembered", "this rule was turned down before"
        return None

    def _new_id(self, text: str) -> str:
        return free_id(text, {span.rule.id for span in self._spans})

    def _with_rule(self, rule: Rule) -> SkillDoc:
        lines = list(self._lines)
        if self._region is not None:
            place = self._spans[-1].stop if self._spans else self._region.end
            lines[place:place] = self._rendered(rule)
            return self._new(lines)
        end = line_end(self._lines)
        complete = not lines or lines[-1].endswith(("\n", "\r"))
        lead = 0 if not lines else 1 if complete else 2
        opening = [end] * lead + [f"<!-- skillopt-sleep:begin lead={lead} -->{end}", f"{HEADING}{end}", end]
        return self._new([*lines, *opening, *self._rendered(rule), f"<!-- skillopt-sleep:end -->{end}"])

    def _without(self, span: Span) -> SkillDoc:
        """Without one rule; without the whole region where it was the last and nobody else wrote into it."""
        region = self._region
        assert region is not None
        lines = list(self._lines)
        rest = [*lines[region.begin + 1 : span.start], *lines[span.stop : region.end]]
        if any(line.strip() not in ("", HEADING) for line in rest):
            return self._spliced(span, [])
        following = lines[region.end + 1 :]
        return self._new([without_lead("".join(lines[: region.begin]), region.lead, following), *following])

    def _spliced(self, span: Span, replacement: Sequence[str]) -> SkillDoc:
        return self._new([*self._lines[: span.start], *replacement, *self._lines[span.stop :]])

    def _new(self, lines: Sequence[str]) -> SkillDoc:
        return SkillDoc("".join(lines).encode("utf-8"), path=self.path, exists=True)

    def _rendered(self, rule: Rule) -> list[str]:
        end = line_end(self._lines)
        first, *more = rule.text.split("\n")
        return [
            f"- {first} <!-- rule:{rule.id} -->{end}",
            *(f"  {line}{end}" if line else end for line in more),
        ]


def unified_diff(before: bytes, after: bytes, name: str) -> str:
    """The change as a patch that `patch` and `git apply` take; empty where nothing changed.

    Lines keep their own line ends, so a change of line ends shows, and a missing last one is marked as diff does.
    """
    old, new = (_patch_lines(data.decode("utf-8", errors="replace")) for data in (before, after))
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    )


def _patch_lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)

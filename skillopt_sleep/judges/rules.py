"""The judge of programmatic checks.

Operators that come from the gbrain-evals `skillopt-v1` layout mean exactly what they mean there.
"""

from __future__ import annotations

from typing import assert_never

from skillopt_sleep.domain.checks import (
    Check,
    Contains,
    EndsWith,
    Heading,
    JsonSchema,
    JsonValid,
    MaxChars,
    MaxWords,
    MinChars,
    MinWords,
    NoRefusal,
    NotContains,
    Regex,
    SectionContains,
    SectionPresent,
    StartsWith,
    ToolCalled,
)
from skillopt_sleep.domain.describe import describe
from skillopt_sleep.domain.patterns import found
from skillopt_sleep.domain.tasks import Rules, Task
from skillopt_sleep.domain.trials import Attempt, CheckResult, Mark, Score
from skillopt_sleep.judges.json_reply import NotJson, fits, read_json
from skillopt_sleep.judges.markdown import has_section, heading_contains, headings
from skillopt_sleep.judges.refusals import is_bare_refusal
from skillopt_sleep.judges.words import count_words

PATTERN_SECONDS = 1.0
"""Time limit of one search. A pattern that needs longer has run away; what it would have found is not known."""


class Undecided(Exception):
    """A check that could not be evaluated; the text is the reason."""


class RulesJudge:
    """Scores `Rules`: hard is 1 when all checks hold, soft is the share that hold."""

    def __init__(self, *, pattern_seconds: float = PATTERN_SECONDS) -> None:
        self._seconds = pattern_seconds

    @property
    def version(self) -> str:
        return "rules@1"

    async def score(self, task: Task, attempt: Attempt) -> Score:
        """The score; an abstention where the criterion is of another kind or some check cannot be evaluated."""
        if not isinstance(task.criterion, Rules):
            return Score(judge=self.version, mark=None, abstained=f"not a rule criterion: {task.criterion.kind}")
        checks = task.criterion.checks
        try:
            if any(isinstance(check, Regex | JsonSchema) for check in checks):
                # A pattern may take its whole time limit; `regex` lets the event loop run on meanwhile.
                from anyio import to_thread

                held = await to_thread.run_sync(self._evaluate, checks, attempt)
            else:
                held = self._evaluate(checks, attempt)
        except Undecided as reason:
            return Score(judge=self.version, mark=None, abstained=str(reason))
        results = tuple(
            CheckResult(requirement=describe(check).text, passed=passed)
            for check, passed in zip(checks, held, strict=True)
        )
        mark = Mark(hard=float(all(held)), soft=sum(held) / len(held))
        return Score(judge=self.version, mark=mark, checks=results)

    def _evaluate(self, checks: tuple[Check, ...], attempt: Attempt) -> tuple[bool, ...]:
        return tuple(holds(check, attempt, pattern_seconds=self._seconds) for check in checks)


def holds(  # noqa: PLR0911, PLR0912 - one line per operator reads best as one table
    check: Check, attempt: Attempt, *, pattern_seconds: float = PATTERN_SECONDS
) -> bool:
    """Whether the attempt meets one check. Raises `Undecided` where that cannot be found out."""
    text = attempt.text
    match check:
        case Contains():
            return check.arg.casefold() in text.casefold()
        case NotContains():
            return check.arg.casefold() not in text.casefold()
        case Regex():
            return _searched(check.arg, text, pattern_seconds)
        case MaxChars():
            return len(text) <= check.arg
        case MinChars():
            return len(text) >= check.arg
        case MaxWords():
            return count_words(text) <= check.arg
        case MinWords():
            return count_words(text) >= check.arg
        case StartsWith():
            return text.lstrip().startswith(check.arg)
        case EndsWith():
            return text.rstrip().endswith(check.arg)
        case Heading():
            return " ".join(check.arg.split()).casefold() in (title.casefold() for title in headings(text))
        case SectionPresent():
            return has_section(text, check.arg)
        case SectionContains():
            return heading_contains(text, check.arg)
        case ToolCalled():
            return any(call.name == check.arg for call in attempt.tool_calls)
        case NoRefusal():
            return bool(text.strip()) and not is_bare_refusal(text)
        case JsonValid():
            return _json_fits(text, None, pattern_seconds)
        case JsonSchema():
            return _json_fits(text, check, pattern_seconds)
    assert_never(check)


def _searched(pattern: str, text: str, seconds: float) -> bool:
    try:
        return found(pattern, text, seconds=seconds)
    except TimeoutError as error:
        raise Undecided(f"a pattern took longer than {seconds:g} s on this reply") from error


def _json_fits(text: str, check: JsonSchema | None, seconds: float) -> bool:
    try:
        value = read_json(text)
    except NotJson:
        return False
    if check is None:
        return True
    import referencing.exceptions

    try:
        return fits(value, check.arg, seconds=seconds)
    except OverflowError:  # a number that no schema can weigh (1e400) fits none
        return False
    except TimeoutError as error:
        raise Undecided(f"a pattern of the JSON Schema took longer than {seconds:g} s on this reply") from error
    except referencing.exceptions.Unresolvable as error:
        raise Undecided("the JSON Schema refers to something that is not in it") from error
    except RecursionError as error:
        raise Undecided("the JSON Schema or the reply is nested too deeply") from error

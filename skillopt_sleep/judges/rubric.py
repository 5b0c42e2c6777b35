"""The judge of rubrics: a pinned model that scores each criterion of a rubric, or no score at all.

The grader sees the request, the criteria and the reply as data in blocks that nothing inside can close. Its answer is
used only where it is a grade for every criterion; anything else is an abstention, never a 0.
"""

from __future__ import annotations

import math
from statistics import fmean

from pydantic import ValidationError

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.briefing import json_block
from skillopt_sleep.domain.llm import Prompt, Reply, UserMessage
from skillopt_sleep.domain.ports import Model
from skillopt_sleep.domain.tasks import Rubric, Task, as_requirement
from skillopt_sleep.domain.trials import Attempt, CheckResult, Mark, Score
from skillopt_sleep.prompts import render

MOST_GRADE_TOKENS = 1024
"""Longest answer of a grader that is accepted."""
_REASON_CHARS = 300


class Grade(Frozen):
    """One criterion's grade. The range is looked at by the judge: services do not all enforce it."""

    criterion: int
    score: float
    reason: str = ""


class Grading(Frozen):
    """What a grader answers: the schema of its structured reply."""

    grades: tuple[Grade, ...]


class _Nonsense(Exception):
    """A grader's answer that says nothing about the reply; the text is the reason."""


class RubricJudge:
    """Scores `Rubric` with a grader model: soft is the mean over criteria, hard is 1 from the threshold on."""

    def __init__(self, grader: Model) -> None:
        self._grader = grader

    @property
    def version(self) -> str:
        return "rubric@1"

    async def score(self, task: Task, attempt: Attempt) -> Score:
        """The score; an abstention where the grader's answer is no grade. The grader's own failures pass through."""
        rubric = task.criterion
        if not isinstance(rubric, Rubric):
            return self._abstain(f"not a rubric criterion: {rubric.kind}")
        if not attempt.text.strip():
            return self._abstain("the reply is empty: there is nothing to grade")
        reply = await self._grader.generate(grading_prompt(task, rubric, attempt), schema=Grading)
        try:
            grades = _read(reply, len(rubric.criteria))
        except _Nonsense as nonsense:
            return self._abstain(f"{self._grader.id}: {nonsense}")
        soft = fmean(grade.score for grade in grades)
        return Score(
            judge=self.version,
            mark=Mark(hard=float(soft >= rubric.threshold), soft=soft),
            checks=tuple(
                CheckResult(
                    requirement=as_requirement(criterion),
                    passed=grade.score >= rubric.threshold,
                    reason=" ".join(grade.reason.split())[:_REASON_CHARS],
                )
                for criterion, grade in zip(rubric.criteria, grades, strict=True)
            ),
        )

    def _abstain(self, why: str) -> Score:
        return Score(judge=self.version, mark=None, abstained=why)


def grading_prompt(task: Task, rubric: Rubric, attempt: Attempt) -> Prompt:
    """What a grader is asked about one attempt. The skill is no part of it: it is not what is judged."""
    system = render("grade_system")
    user = render(
        "grade_user",
        request=json_block("request", [task.prompt]),
        criteria=json_block("criteria", list(rubric.criteria)),
        reference=json_block("reference", [rubric.reference]) if rubric.reference else "",
        reply=json_block("reply", [attempt.text]),
        count=len(rubric.criteria),
    )
    return Prompt(
        role="judge",
        system=system.text,
        messages=(UserMessage(text=user.text),),
        max_tokens=MOST_GRADE_TOKENS,
        template=f"{system.id} {user.id}",
    )


def _read(reply: Reply, wanted: int) -> list[Grade]:
    """A grade for each criterion, in order. Raises `_Nonsense` for everything else."""
    if reply.stop == "refusal":
        raise _Nonsense("the grader declined to grade")
    if reply.stop == "max_tokens":
        raise _Nonsense("the grader's answer broke off")
    try:
        found = Grading.model_validate_json(reply.text).grades
    except ValidationError:
        raise _Nonsense("the grader's answer is no grading") from None
    if sorted(grade.criterion for grade in found) != list(range(1, wanted + 1)):
        raise _Nonsense(f"the grader graded {len(found)} criteria in place of {wanted}, or others than those asked for")
    if any(not math.isfinite(grade.score) or not 0.0 <= grade.score <= 1.0 for grade in found):
        raise _Nonsense("the grader gave a score outside of 0 to 1")
    return sorted(found, key=lambda grade: grade.criterion)

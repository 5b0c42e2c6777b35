"""Judges: a score in [0, 1] for an attempt, or an abstention with its reason."""

from __future__ import annotations

from typing import assert_never

from skillopt_sleep.domain.ports import Judge
from skillopt_sleep.domain.tasks import Exact, Rubric, Rules, Task
from skillopt_sleep.domain.trials import Attempt, Score
from skillopt_sleep.judges.exact import ExactJudge
from skillopt_sleep.judges.rubric import RubricJudge
from skillopt_sleep.judges.rules import RulesJudge

__all__ = ["ExactJudge", "JudgeByCriterion", "RubricJudge", "RulesJudge"]


class JudgeByCriterion:
    """Sends each task to the judge of its kind of criterion.

    `grader` scores rubrics; without one they are left unscored, which a gate counts as missing and never as failed.
    """

    def __init__(self, *, rules: Judge | None = None, exact: Judge | None = None, grader: Judge | None = None) -> None:
        self._rules = rules or RulesJudge()
        self._exact = exact or ExactJudge()
        self._grader = grader

    @property
    def version(self) -> str:
        judges = (self._rules, self._exact, self._grader)
        return "+".join(judge.version for judge in judges if judge is not None)

    async def score(self, task: Task, attempt: Attempt) -> Score:
        """The score of the judge in charge; its errors pass through."""
        judge = self._judge_of(task)
        if task.not_evaluable is not None:
            return Score(judge=self.version, mark=None, abstained=f"not evaluable offline: {task.not_evaluable}")
        if judge is None:
            return Score(judge=self.version, mark=None, abstained="needs a grader model")
        return await judge.score(task, attempt)

    def _judge_of(self, task: Task) -> Judge | None:
        match task.criterion:
            case Rules():
                return self._rules
            case Exact():
                return self._exact
            case Rubric():
                return self._grader
        assert_never(task.criterion)

"""The judge of exact answers."""

from __future__ import annotations

from skillopt_sleep.domain.tasks import Exact, Task
from skillopt_sleep.domain.trials import Attempt, CheckResult, Mark, Score

# The answer itself stays out: a skill that quotes the answer of one task has learned nothing.
_REQUIREMENT = "Give the exact answer and nothing else."


class ExactJudge:
    """Scores `Exact`: 1 when the reply, trimmed, equals the answer, trimmed; upper and lower case differ."""

    @property
    def version(self) -> str:
        return "exact@1"

    async def score(self, task: Task, attempt: Attempt) -> Score:
        """The score; an abstention where the criterion is of another kind."""
        if not isinstance(task.criterion, Exact):
            return Score(judge=self.version, mark=None, abstained=f"not an exact criterion: {task.criterion.kind}")
        passed = attempt.text.strip() == task.criterion.answer.strip()
        mark = Mark(hard=float(passed), soft=float(passed))
        return Score(judge=self.version, mark=mark, checks=(CheckResult(requirement=_REQUIREMENT, passed=passed),))

"""What every `Judge` has to keep."""

from __future__ import annotations

import re

from skillopt_sleep.domain.ports import Judge
from skillopt_sleep.domain.tasks import Task
from skillopt_sleep.domain.trials import Attempt


async def check_judge(judge: Judge, task: Task, *, passing: str, failing: str) -> None:
    """Run a judge through the contract with a task of its kind and two replies to it."""
    assert re.fullmatch(r"[\w-]+@\d+(\+[\w-]+@\d+)*", judge.version)
    good = await judge.score(task, Attempt(task_id=task.id, text=passing))
    bad = await judge.score(task, Attempt(task_id=task.id, text=failing))
    assert good == await judge.score(task, Attempt(task_id=task.id, text=passing))
    for score in (good, bad):
        assert score.judge in judge.version.split("+") or score.judge == judge.version
    assert good.mark is not None
    assert bad.mark is not None
    assert (good.mark.hard, bad.mark.hard) == (1.0, 0.0)
    assert good.mark.soft > bad.mark.soft
    assert all(check.requirement for check in (*good.checks, *bad.checks))

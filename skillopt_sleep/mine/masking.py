"""Secrets in a person's own tasks file do not get further than those in transcripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from skillopt_sleep.domain.ports import Redactor
from skillopt_sleep.domain.tasks import Rubric, Task, Tool


def masked_tasks(tasks: Sequence[Task], redact: Redactor) -> tuple[tuple[Task, ...], dict[str, int]]:
    """The tasks with secrets masked in all that is shown to a model or a reader, and how many of each kind.

    What a reply is compared with (the arguments of checks, an exact answer) stays as the person wrote it.
    """
    counts: Counter[str] = Counter()

    def masked(text: str) -> str:
        result, found = redact(text)
        counts.update(found)
        return result

    def tool(one: Tool) -> Tool:
        notes = {masked(title): masked(text) for title, text in one.notes.items()}
        return one.model_copy(update={"description": masked(one.description), "notes": notes})

    def task(one: Task) -> Task:
        criterion = one.criterion
        if isinstance(criterion, Rubric):
            criterion = criterion.model_copy(update={"text": masked(criterion.text)})
        return one.model_copy(
            update={
                "prompt": masked(one.prompt),
                "criterion": criterion,
                "tools": tuple(tool(each) for each in one.tools),
                "not_evaluable": None if one.not_evaluable is None else masked(one.not_evaluable),
            }
        )

    return tuple(task(one) for one in tasks), dict(counts)

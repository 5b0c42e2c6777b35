"""Sessions -> tasks without a model: recurring requests, judged by what the person corrected.

The order of steps is the guarantee. Families and slices are settled first, from requests alone; only then is the
wording of corrections read. House rules come from training families only, so nothing that was said in a gate or test
conversation reaches the optimiser; a gate or test family keeps its own corrections for its own judge.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.checks import Check
from skillopt_sleep.domain.reports import MineCounts
from skillopt_sleep.domain.sessions import Session
from skillopt_sleep.domain.slices import KnownFamily, Slice, SplitPolicy
from skillopt_sleep.domain.tasks import Criterion, Rubric, Rules, Task
from skillopt_sleep.mine.clipping import clip
from skillopt_sleep.mine.conversations import Request
from skillopt_sleep.mine.criteria import HouseRule, Stated, check_key, contradict, house_rules, settle
from skillopt_sleep.mine.evaluable import why_not_evaluable
from skillopt_sleep.mine.grammar import read_checks
from skillopt_sleep.mine.survey import Placed, Survey, by_group, recurring, skill_of, survey
from skillopt_sleep.mine.written import Criteria, Written

SAID_LIMIT = 1200
"""Characters of a correction that a training task keeps."""
PROMPT_LIMIT = 6000
"""Characters of a prompt that a task keeps."""

_NO_CRITERION = "no criterion yet"
_NO_CHECK = "correction without a check"


class UnreadCorrection(Frozen):
    """A correction that states nothing a program can check. Only those of the train slice may reach an optimiser."""

    family: str
    group: str
    slice: Slice
    at: datetime
    text: str


class Mined(Frozen):
    """What mining made of the sessions."""

    tasks: tuple[Task, ...]
    """One per family with a criterion, ordered by group and id."""
    counts: MineCounts
    families: tuple[KnownFamily, ...]
    """The updated book: the known families unchanged, then the new ones. Its order must be kept."""
    house_rules: dict[str, tuple[HouseRule, ...]] = {}
    """By group, where there are any."""
    corrections: int = 0
    unread: tuple[UnreadCorrection, ...] = ()


def mine_sessions(sessions: Sequence[Session], known: Sequence[KnownFamily], policy: SplitPolicy) -> Mined:
    """Tasks from sessions. Pure: the order of `sessions` does not matter, a session given twice counts once."""
    return tasks_from(survey(sessions, known, policy), Written())


def tasks_from(found: Survey, written: Written) -> Mined:
    """Tasks from requests in their places, with what a model wrote about them, if one was asked. Pure."""
    dropped = found.dropped + written.dropped
    groups = recurring(by_group(found.placed, written.intents), dropped)

    rules: dict[str, tuple[HouseRule, ...]] = {}
    tasks: list[Task] = []
    unread: list[UnreadCorrection] = []
    for group, members in sorted(groups.items()):
        stated = _stated(members, unread)
        house = house_rules(s for m, rows in stated if m.slice == "train" for s in rows)
        if house:
            rules[group] = tuple(rule for rule, _ in house)
        tasks += _tasks_of(group, stated, [newest for _, newest in house], written, dropped)

    if unread:
        dropped[_NO_CHECK] = len(unread)
    everyone = [member for members in groups.values() for member in members]
    return Mined(
        tasks=tuple(tasks),
        counts=MineCounts(
            prompts=len(found.placed),
            groups=len(groups),
            families=len({member.family.id for member in everyone}),
            tasks=len(tasks),
            dropped=dict(sorted(dropped.items())),
        ),
        families=found.book,
        house_rules=rules,
        corrections=sum(len(member.request.remarks) for member in everyone),
        unread=tuple(unread),
    )


def _stated(members: list[Placed], unread: list[UnreadCorrection]) -> list[tuple[Placed, list[Stated]]]:
    """The checks each request's corrections state; corrections that state none are added to `unread`."""
    rows = []
    for member in members:
        stated: list[Stated] = []
        for remark in member.request.remarks:
            checks = read_checks(remark.text)
            stated += [Stated(check, remark.at, member.request.session, member.family.id) for check in checks]
            if not checks:
                family = member.family
                unread.append(
                    UnreadCorrection(
                        family=family.id, group=family.group, slice=member.slice, at=remark.at, text=remark.text
                    )
                )
        rows.append((member, stated))
    return rows


def _tasks_of(
    group: str, stated: list[tuple[Placed, list[Stated]]], house: list[Stated], written: Written, dropped: Counter[str]
) -> list[Task]:
    """The tasks of each family of a group that has a criterion of its own or through the group.

    A family with checks and a rubric gives two tasks, one for each judge: they stand and fall together, as one family.
    """
    skill = _skill([member for member, _ in stated], written)
    by_family: defaultdict[str, list[tuple[Placed, list[Stated]]]] = defaultdict(list)
    for row in stated:
        by_family[row[0].family.id].append(row)
    general = written.general_by_slice({member.family.group for member, _ in stated})
    tasks = []
    for family, rows in sorted(by_family.items()):
        slice_ = rows[0][0].slice
        settled = [one.check for one in settle([*house, *(one for _, own in rows for one in own)])]
        wanted = (written.own.get(family, Criteria()), general[slice_], general["train"])
        criteria = _criteria(settled, wanted)
        if not criteria:
            dropped[_NO_CRITERION] += 1
            continue
        newest = max((member.request for member, _ in rows), key=lambda request: (request.at, request.text))
        task_id = f"task-{family.removeprefix('fam-')}"
        for criterion in criteria:
            both = isinstance(criterion, Rubric) and len(criteria) > 1
            tasks.append(
                Task(
                    id=f"{task_id}-rubric" if both else task_id,
                    prompt=clip(newest.text, PROMPT_LIMIT),
                    criterion=criterion,
                    group=group,
                    family=family,
                    slice=slice_,
                    skill=skill,
                    origin="session",
                    said=said(slice_, [member.request for member, _ in rows]),
                    not_evaluable=why_not_evaluable(newest.text) or written.not_evaluable.get(family),
                )
            )
    return tasks


def _criteria(settled: list[Check], wanted: Iterable[Criteria]) -> list[Criterion]:
    """What a person stated first; of a model's checks those that do not contradict it; then the rubric, if any.

    `wanted` comes in order of preference.
    """
    checks, lines = list(settled), list[str]()
    for criteria in wanted:
        for check in criteria.checks:
            if all(check_key(check) != check_key(kept) and not contradict(check, kept) for kept in checks):
                checks.append(check)
        lines += [line for line in criteria.rubric if line not in lines]
    found: list[Criterion] = [Rules(checks=tuple(checks))] if checks else []
    if lines:
        found.append(Rubric(text="\n".join(f"- {line}" for line in lines), author="model"))
    return found


def _skill(members: Sequence[Placed], written: Written) -> str | None:
    """The skill that a model attributed, where one did and the conversations used it; else the one used most."""
    named = Counter(name for member in members if (name := written.skills.get(member.family.group)))
    if named:
        return min(named, key=lambda name: (-named[name], name))
    return skill_of([member.request for member in members])


def said(slice_: Slice, requests: Sequence[Request]) -> tuple[str, ...]:
    """What the person typed about replies to training requests; of gate and test requests nothing is kept."""
    remarks = [remark.text for request in requests for remark in request.remarks] if slice_ == "train" else []
    return tuple(dict.fromkeys(clip(text, SAID_LIMIT) for text in remarks))

"""Sessions -> tasks without a model: recurring requests, judged by what the person corrected.

The order of steps is the guarantee. Families and slices are settled first, from requests alone; only then is the
wording of corrections read. House rules come from training families only, so nothing that was said in a gate or test
conversation reaches the optimiser; a gate or test family keeps its own corrections for its own judge.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.reports import MineCounts
from skillopt_sleep.domain.sessions import Session
from skillopt_sleep.domain.slices import KnownFamily, Slice, SplitPolicy
from skillopt_sleep.domain.tasks import Rules, Task
from skillopt_sleep.mine.conversations import Request
from skillopt_sleep.mine.criteria import HouseRule, Stated, house_rules, settle
from skillopt_sleep.mine.evaluable import why_not_evaluable
from skillopt_sleep.mine.grammar import read_checks
from skillopt_sleep.mine.survey import Placed, by_group, recurring, skill_of, survey

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
    found = survey(sessions, known, policy)
    dropped = found.dropped.copy()
    groups = recurring(by_group(found.placed), dropped)

    rules: dict[str, tuple[HouseRule, ...]] = {}
    tasks: list[Task] = []
    unread: list[UnreadCorrection] = []
    for group, members in sorted(groups.items()):
        stated = _stated(members, unread)
        house = house_rules(s for m, rows in stated if m.slice == "train" for s in rows)
        if house:
            rules[group] = tuple(rule for rule, _ in house)
        tasks += _tasks_of(group, stated, [newest for _, newest in house], dropped)

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
    group: str, stated: list[tuple[Placed, list[Stated]]], house: list[Stated], dropped: Counter[str]
) -> list[Task]:
    """One task for each family of a group that has a criterion of its own or through a house rule."""
    skill = skill_of([member.request for member, _ in stated])
    by_family: defaultdict[str, list[tuple[Placed, list[Stated]]]] = defaultdict(list)
    for row in stated:
        by_family[row[0].family.id].append(row)
    tasks = []
    for family, rows in sorted(by_family.items()):
        checks = settle([*house, *(one for _, own in rows for one in own)])
        if not checks:
            dropped[_NO_CRITERION] += 1
            continue
        newest = max((member.request for member, _ in rows), key=lambda request: (request.at, request.text))
        tasks.append(
            Task(
                id=f"task-{family.removeprefix('fam-')}",
                prompt=clip(newest.text, PROMPT_LIMIT),
                criterion=Rules(checks=tuple(one.check for one in checks)),
                group=group,
                family=family,
                slice=rows[0][0].slice,
                skill=skill,
                origin="session",
                said=said(rows[0][0].slice, [member.request for member, _ in rows]),
                not_evaluable=why_not_evaluable(newest.text),
            )
        )
    return tasks


def said(slice_: Slice, requests: Sequence[Request]) -> tuple[str, ...]:
    """What the person typed about replies to training requests; of gate and test requests nothing is kept."""
    remarks = [remark.text for request in requests for remark in request.remarks] if slice_ == "train" else []
    return tuple(dict.fromkeys(clip(text, SAID_LIMIT) for text in remarks))


def clip(text: str, limit: int) -> str:
    """At most `limit` characters, cut at a paragraph, a line or a word, with a mark where something is left out."""
    text = text.strip()
    if len(text) <= limit:
        return text
    head = text[: limit - 4]
    for border in ("\n\n", "\n", " "):
        cut = head.rfind(border)
        if cut > limit // 2:
            return f"{head[:cut].rstrip()}\n[…]"
    return f"{head}\n[…]"[:limit]

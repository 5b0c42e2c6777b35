"""Sessions -> tasks without a model: recurring requests, judged by what the person corrected.

The order of steps is the guarantee. Families and slices are settled first, from requests alone; only then is the
wording of corrections read. House rules come from training families only, so nothing that was said in a gate or test
conversation reaches the optimiser; a gate or test family keeps its own corrections for its own judge.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.reports import MineCounts
from skillopt_sleep.domain.sessions import Session
from skillopt_sleep.domain.slices import KnownFamily, Slice, SplitPolicy, slice_of
from skillopt_sleep.domain.tasks import Rules, Task
from skillopt_sleep.mine.conversations import Request, read_requests
from skillopt_sleep.mine.criteria import HouseRule, Stated, house_rules, settle
from skillopt_sleep.mine.evaluable import why_not_evaluable
from skillopt_sleep.mine.families import DatedText, assign_families
from skillopt_sleep.mine.grammar import read_checks

RECURRING_SESSIONS = 2
"""Distinct sessions a group must be seen in."""
PROMPT_LIMIT = 6000
"""Characters of a prompt that a task keeps."""

_ONCE = "seen in one session only"
_NO_CRITERION = "no criterion yet"
_REASKED = "asked again in the same session"
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


@dataclass(frozen=True, slots=True)
class _Placed:
    """A request with the family and slice it belongs to."""

    request: Request
    family: KnownFamily
    slice: Slice


def mine_sessions(sessions: Sequence[Session], known: Sequence[KnownFamily], policy: SplitPolicy) -> Mined:
    """Tasks from sessions. Pure: the order of `sessions` does not matter, a session given twice counts once."""
    dropped: Counter[str] = Counter()
    distinct = {session.id: session for session in sessions}
    requests = [request for key in sorted(distinct) for request in read_requests(distinct[key], dropped)]

    families, book = assign_families([DatedText(request.at, request.text) for request in requests], known)
    placed = [_Placed(r, f, slice_of(f.id, policy)) for r, f in zip(requests, families, strict=True)]
    groups = _recurring(placed, dropped)

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
    recurring = [member for members in groups.values() for member in members]
    return Mined(
        tasks=tuple(tasks),
        counts=MineCounts(
            prompts=len(requests),
            groups=len(groups),
            families=len({member.family.id for member in recurring}),
            tasks=len(tasks),
            dropped=dict(sorted(dropped.items())),
        ),
        families=book,
        house_rules=rules,
        corrections=sum(len(member.request.remarks) for member in recurring),
        unread=tuple(unread),
    )


def _recurring(placed: list[_Placed], dropped: Counter[str]) -> dict[str, list[_Placed]]:
    """Groups seen in enough sessions. Asking again in one session is counted, and its corrections are kept."""
    groups: defaultdict[str, list[_Placed]] = defaultdict(list)
    asked: set[tuple[str, str]] = set()
    for member in placed:
        groups[member.family.group].append(member)
        occasion = (member.request.session, member.family.id)
        dropped[_REASKED] += occasion in asked
        asked.add(occasion)
    kept = {}
    for group, members in groups.items():
        if len({member.request.session for member in members}) >= RECURRING_SESSIONS:
            kept[group] = members
        else:
            dropped[_ONCE] += len({member.family.id for member in members})
    for reason in [reason for reason, count in dropped.items() if not count]:
        del dropped[reason]
    return kept


def _stated(members: list[_Placed], unread: list[UnreadCorrection]) -> list[tuple[_Placed, list[Stated]]]:
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
    group: str, stated: list[tuple[_Placed, list[Stated]]], house: list[Stated], dropped: Counter[str]
) -> list[Task]:
    """One task for each family of a group that has a criterion of its own or through a house rule."""
    skill = _skill([member.request for member, _ in stated])
    by_family: defaultdict[str, list[tuple[_Placed, list[Stated]]]] = defaultdict(list)
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
                not_evaluable=why_not_evaluable(newest.text),
            )
        )
    return tasks


def _skill(requests: list[Request]) -> str | None:
    """The skill used most often near the requests of a group; failing that, in their sessions. Ties: by name."""
    near = Counter(name for request in requests for name in set(request.skills))
    counted = near or Counter(name for request in requests for name in request.session_skills)
    return min(counted, key=lambda name: (-counted[name], name)) if counted else None


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

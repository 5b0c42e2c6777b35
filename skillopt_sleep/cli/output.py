"""Views on the screen: plain words first, detail after; `--json` prints the view itself. Colours only on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from pydantic import JsonValue
from rich.console import Console
from rich.table import Table

from skillopt_sleep.domain.health import State
from skillopt_sleep.views import (
    ChangeView,
    ConfigView,
    DoctorView,
    HarvestView,
    JobResultView,
    JobsView,
    JobView,
    PlannedPrompt,
    PlanView,
    RunView,
    ShowView,
    SkillsView,
    StatusView,
    TransferPlanView,
    TransferRunView,
    View,
)

if TYPE_CHECKING:
    from skillopt_sleep.domain.reports import HarvestCounts, MineCounts

_MARKS: dict[State, str] = {"ok": "ok", "warning": "know", "problem": "PROBLEM", "skipped": "skipped"}
K = TypeVar("K", bound=str)
INCONCLUSIVE_EXIT = 5
PLAIN_WIDTH = 110
"""Columns of a table that does not go to a terminal."""


def console() -> Console:
    """Standard output. Rich drops colours where it is not a terminal or NO_COLOR is set."""
    if sys.stdout.isatty():
        return Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    # whoever pipes us wants whole lines: only tables have a width there
    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False, width=PLAIN_WIDTH, soft_wrap=True)


def as_json_text(view: View) -> None:
    # not pydantic's own writer, which refuses names of files that are not UTF-8
    sys.stdout.write(json.dumps(view.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n")


def plan(view: PlanView, *, as_json: bool) -> int:
    if as_json:
        as_json_text(view)
        return 0
    out = console()
    out.print(view.summary)
    out.print(f"No model was called. Project: {view.project}")
    if not view.models:
        out.print("Models: none chosen yet; a night needs --target-model")
    _counts(out, view.harvest, view.mined)
    _what_it_takes(out, view)
    _reasons(out, "Tasks left out", view.left_out)
    for warning in view.warnings:
        out.print(f"warning: {warning}")
    _prompts(out, view.prompts)
    return 0


def agree(view: PlanView) -> bool:
    """Show what a night could cost, on standard error, and ask. Only for a terminal."""
    out = Console(file=sys.stderr, highlight=False, markup=False, emoji=False)
    out.print(view.summary)
    _what_it_takes(out, view)
    for warning in view.warnings:
        out.print(f"warning: {warning}")
    out.print("The texts of your sessions and skills that this needs go to these models, with secrets masked.")
    out.print("`--dry-run --show-prompts` shows them.")
    return ask("Begin?")


def transfer_plan(view: TransferPlanView, *, as_json: bool) -> int:
    if as_json:
        as_json_text(view)
        return 0
    out = console()
    out.print(view.summary)
    out.print("No model was called.")
    families = "/".join(str(view.families.get(slice_, 0)) for slice_ in ("train", "gate", "test"))
    out.print(f"Families (train/gate/test): {families}; {view.samples} attempts at each test task and version.")
    out.print(f"Grader: {view.grader}")
    _reasons(out, "Tasks left out", view.left_out)
    if view.costs == "known":
        out.print(f"Prices of {view.prices_as_of}. A subscription may bill otherwise.")
    return 0


def agree_to_transfer(view: TransferPlanView) -> bool:
    """Show what an experiment could cost, on standard error, and ask. Only for a terminal."""
    sys.stderr.write(f"{view.summary}\nThe skill and its tasks go to these models, with secrets masked.\n")
    return ask("Begin?")


def transfer(view: TransferRunView, *, as_json: bool) -> int:
    """Exit code 1 where figures are missing."""
    from skillopt_sleep.report.matrix import columns, notes, rows

    if as_json:
        as_json_text(view)
    else:
        out = console()
        out.print(view.summary)
        table = _table(*columns())
        for row in rows(view.report):
            table.add_row(*row)
        out.print(table)
        for note in notes(view.report):
            out.print(note)
        out.print(f"Report: {view.report_path}")
    return 1 if view.report.partial else 0


def ask(question: str) -> bool:
    """Ask on standard error; whatever is not yes is no."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().casefold() in ("y", "yes")


def _what_it_takes(out: Console, view: PlanView) -> None:
    table = _table("skill", "families (train/gate/test)", "calls", "at most", "")
    for skill in view.skills:
        families = "/".join(str(skill.families.get(slice_, 0)) for slice_ in ("train", "gate", "test"))
        table.add_row(skill.skill, families, str(skill.expected_calls), str(skill.most_calls), skill.note)
    out.print(table)
    if view.models:
        table = _table("role", "model", "calls", "tokens in + out", "cost", "at most")
        for row in view.roles:
            tokens = f"{row.input_tokens:,} + {row.output_tokens:,}"
            table.add_row(row.role, row.model, f"{row.calls:,}", tokens, _dollars(row.usd), _dollars(row.most_usd))
        out.print(table)
    out.print(f"Never passed: {_caps_in_words(view.caps)}.{_today_in_words(view.spent_today)}")
    if view.costs == "known":
        out.print(f"Prices of {view.prices_as_of}. A subscription may bill otherwise.")


def _dollars(usd: float | None) -> str:
    if usd is None:
        return "unknown"
    return "nothing" if usd == 0 else f"${usd:,.4f}" if usd < 0.1 else f"${usd:,.2f}"


def _caps_in_words(caps: Mapping[str, float]) -> str:
    return ", ".join(f"${cap:,.2f}" if unit == "usd" else f"{cap:,.0f} {unit}" for unit, cap in caps.items())


def _today_in_words(spent: Mapping[str, float]) -> str:
    return f" Spent today so far: {_caps_in_words(spent)}." if spent else ""


def _prompts(out: Console, shown: Sequence[PlannedPrompt]) -> None:
    """Every prompt that would be sent. A system text is written once where several prompts share it."""
    before = ""
    for number, prompt in enumerate(shown, start=1):
        state = "exactly this" if prompt.known else "template, [brackets] are filled in the night"
        out.print(f"\n=== {number}/{len(shown)} {prompt.role}; {prompt.about}; {prompt.times} x; {state}")
        out.print("(system as above)" if prompt.system == before else prompt.system)
        out.print(f"> {prompt.text}")
        before = prompt.system


def night(view: RunView, *, as_json: bool, strict: bool, review: bool = True) -> int:
    """Exit code: 1 for a night that was stopped, 5 for an inconclusive verdict with `strict`, else 0."""
    from skillopt_sleep.report import night_reasons, night_table

    if as_json:
        as_json_text(view)
    else:
        out = console()
        out.print(night_table(view.report))
        for line in night_reasons(view.report):
            out.print(line)
        out.print(f"Report: {view.report_path}", soft_wrap=True)
        for proposal in view.proposals if review else ():
            out.print(f"Review it: skillopt-sleep show {proposal}")
    if view.report.status != "finished":
        return 1
    return INCONCLUSIVE_EXIT if strict and "inconclusive" in view.report.decisions else 0


def status(view: StatusView, *, as_json: bool) -> int:
    if as_json:
        as_json_text(view)
        return 0
    out = console()
    out.print(view.summary)
    if view.waiting:
        table = _table("proposal", "skill", "verdict", "why")
        for line in view.waiting:
            table.add_row(line.id, line.skill, line.decision, line.explanation)
        out.print(table)
        out.print("Look at one with `skillopt-sleep show ID`.")
    if view.adopted:
        table = _table("adopted", "skill", "file")
        for line in view.adopted:
            table.add_row(line.id, line.skill, line.target)
        out.print(table)
        out.print("`skillopt-sleep undo ID` takes one back.")
    if view.nights:
        table = _table("night", "state", "skills", "proposals", "")
        for item in view.nights:
            note = "simulated" if item.simulated else ""
            table.add_row(item.id, item.status, str(item.skills), str(item.proposals), note)
        out.print(table)
    if view.unreadable_nights:
        out.print(f"Nights without a readable report (interrupted, or damaged): {view.unreadable_nights}.")
    if view.unreadable_proposals:
        out.print(f"Proposals that are incomplete or damaged, and cannot be adopted: {view.unreadable_proposals}.")
    out.print(f"State: {view.home}")
    return 0


def show(view: ShowView, *, as_json: bool) -> int:
    from skillopt_sleep.report import proposal_markdown

    if as_json:
        as_json_text(view)
    else:
        from rich.markdown import Markdown

        text = proposal_markdown(view.proposal, view.diff, view.status)
        out = console()
        out.print(Markdown(text) if out.is_terminal else text)
        out.print(f"State: {view.status}. Files: {view.folder}")
    return 0


def change(view: ChangeView, *, as_json: bool) -> int:
    if as_json:
        as_json_text(view)
        return 0
    out = console()
    out.print(view.summary)
    for rule in view.remembered:
        out.print(f"  will not come back: {rule.splitlines()[0]}")
    return 0


def harvest(view: HarvestView, *, as_json: bool) -> int:
    if as_json:
        as_json_text(view)
        return 0
    out = console()
    out.print(view.summary)
    _counts(out, view.harvest, view.mined)
    if view.by_skill:
        table = _table("skill", "tasks")
        for name, count in sorted(view.by_skill.items()):
            table.add_row(name, str(count))
        out.print(table)
    if view.tasks:
        table = _table("task", "skill", "slice", "request")
        for task in view.tasks:
            table.add_row(task.id, task.skill or "(no skill)", task.slice, task.request)
        out.print(table)
    if view.tasks_file:
        out.print(f"Tasks written to {view.tasks_file}; read them, correct them, then `run --tasks` them.")
    for warning in view.warnings:
        out.print(f"warning: {warning}")
    return 0


def jobs(view: JobsView, *, as_json: bool) -> int:
    if as_json:
        as_json_text(view)
        return 0
    out = console()
    out.print(view.summary)
    if view.jobs:
        table = _table("job", "skills", "status", "calls", "tokens", "cost", "since")
        for line in view.jobs:
            calls = f"{line.calls} of {line.expected_calls}"
            since = f"{line.started_at:%Y-%m-%d %H:%M}"
            cost = _dollars(line.usd)
            table.add_row(line.id, ", ".join(line.skills), line.status, calls, f"{line.tokens:,}", cost, since)
        out.print(table)
    return 0


def job(view: JobView, *, as_json: bool) -> int:
    if as_json:
        as_json_text(view)
        return 0
    out = console()
    out.print(view.summary)
    out.print(f"Never passed: {view.most_calls} calls. Cost so far: {_dollars(view.usd)}.")
    for warning in view.warnings:
        out.print(f"warning: {warning}")
    if view.error and view.error.hint:
        out.print(view.error.hint)
    return 0


def job_result(view: JobResultView, *, as_json: bool) -> int:
    if as_json:
        as_json_text(view)
        return 0
    return night(view.run, as_json=False, strict=False) if view.run else job(view.job, as_json=False)


def skills(view: SkillsView, *, as_json: bool) -> int:
    if as_json:
        as_json_text(view)
        return 0
    out = console()
    out.print(view.summary)
    table = _table("skill", "scope", "may be changed", "file")
    for skill in view.skills:
        table.add_row(skill.name, skill.scope, "yes" if skill.writable else "no", skill.path)
    out.print(table)
    return 0


def doctor(view: DoctorView, *, as_json: bool) -> int:
    """Exit code: 1 where something is a problem, else 0."""
    if as_json:
        as_json_text(view)
    else:
        out = console()
        out.print(view.summary)
        table = _table("", "about", "what is so")
        for finding in view.findings:
            text = f"{finding.text}\n-> {finding.what_to_do}" if finding.what_to_do else finding.text
            table.add_row(_MARKS[finding.state], finding.about, text)
        out.print(table)
    return 1 if any(finding.state == "problem" for finding in view.findings) else 0


def config(view: ConfigView, *, origin: bool, as_json: bool) -> int:
    if as_json:
        as_json_text(view)
        return 0
    out = console()
    out.print(view.summary)
    table = _table("setting", "value", *(["from"] if origin else []))
    for line in view.settings:
        table.add_row(line.name, _setting(line.value), *([line.origin] if origin else []))
    out.print(table)
    out.print(f"Your file: {view.user_file}")
    out.print(f"The project's file: {view.project_file}")
    return 0


def _setting(value: JsonValue) -> str:
    if isinstance(value, list):
        return ", ".join(str(one) for one in value) or "none"
    return "none" if value is None else str(value)


def _table(*columns: str) -> Table:
    from rich.box import SIMPLE

    table = Table(box=SIMPLE, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _counts(out: Console, harvested: HarvestCounts, mined: MineCounts) -> None:
    if harvested.kept:
        out.print(f"Sessions whose transcript is gone, from what was kept of them: {harvested.kept}.")
    if harvested.soon_deleted:
        out.print(f"Transcripts that the client deletes within days: {harvested.soon_deleted}.")
    _reasons(out, "Sessions skipped", harvested.skipped)
    _reasons(out, "Lines skipped", harvested.skipped_lines)
    _reasons(out, "Secrets masked", harvested.masked)
    _reasons(out, "Requests that became no task", mined.dropped)


def _reasons(out: Console, title: str, counts: Mapping[K, int]) -> None:
    if counts:
        listed: Iterable[str] = (
            f"{count} {str(name).replace('_', ' ')}" for name, count in sorted(counts.items(), key=str)
        )
        out.print(f"{title}: {', '.join(listed)}.")

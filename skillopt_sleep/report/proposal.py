"""A proposal as a Markdown document: everything a person needs to say yes or no."""

from __future__ import annotations

from collections.abc import Iterator

from skillopt_sleep.domain.reports import Proposal, ProposalStatus
from skillopt_sleep.report import sections
from skillopt_sleep.report.ordering import direction, harms
from skillopt_sleep.report.text import code, count, fenced, md
from skillopt_sleep.report.words import ROLES, SHAPES, SIMULATED_NOTE, adopt_command, standing, tagged, verdict_words


def proposal_markdown(proposal: Proposal, diff: str, status: ProposalStatus = "staged") -> str:
    """The verdict, the edits with their reasons, the tasks behind it, and how to adopt or undo.

    `diff` is the unified diff of the skill; it may be empty.
    """
    return "\n".join(_lines(proposal, diff, status)).strip("\n") + "\n"


def _lines(proposal: Proposal, diff: str, status: ProposalStatus) -> Iterator[str]:
    verdict = proposal.verdict
    yield f"# Proposal for {md(proposal.skill)}"
    if proposal.simulated:
        yield from ("", f"> **{SIMULATED_NOTE}**")
    yield from ("", f"{SHAPES[standing(verdict)]} **{md(verdict_words(verdict))}**")
    if worse := [*harms(verdict, proposal.test), *_worse_tasks(proposal)]:
        yield from ("", "Got worse under these edits:", "")
        yield from (f"- {SHAPES['worse']} {tagged(what, simulated=proposal.simulated)}" for what in worse)
    yield from ("", *sections.why(verdict, simulated=proposal.simulated))
    yield from ("", *sections.figures(proposal, simulated=proposal.simulated))
    if proposal.models:
        models = (f"{ROLES[role]}: {code(model)}" for role, model in proposal.models.items())
        yield from ("", f"Measured with {'; '.join(models)}.")

    yield from ("", "## Edits", "", *(sections.edits(proposal.outcomes, applied=True) or ["None."]))
    if refused := sections.edits(proposal.outcomes, applied=False):
        yield from ("", "## Edits that were not made", "", *refused)
    if diff.strip():
        yield from ("", "## Diff", "", *fenced(diff, "diff"))
    yield from ("", "## Tasks, before and after")
    yield from sections.evidence(proposal.evidence, simulated=proposal.simulated) or ["", "None were kept."]
    yield from ("", "## What to do", "", *_steps(proposal, status))


def _worse_tasks(proposal: Proposal) -> list[str]:
    worse = sum(direction(task) == "worse" for task in proposal.evidence)
    return (
        [f"{count(worse, 'task')} passed less often than before, of {len(proposal.evidence)} shown below"]
        if worse
        else []
    )


def _steps(proposal: Proposal, status: ProposalStatus) -> Iterator[str]:
    file = code(proposal.target)
    undo = code(f"skillopt-sleep undo {proposal.id}")
    if status == "adopted":
        yield f"This is adopted: {file} holds it. {undo} takes it back."
        return
    if status in ("dismissed", "superseded"):
        why = "you dismissed it" if status == "dismissed" else "a later night proposed something else for this file"
        yield f"Nothing: {why}. {file} stays as it is."
        return
    if status == "undone":
        again = code(f"skillopt-sleep adopt {proposal.id} --again")
        yield f"Nothing: it was undone, and its rules will not be proposed again. {again} brings it back all the same."
        return
    command = adopt_command(proposal.id, proposal.verdict)
    if command is None:
        yield f"The gate refused this, so there is nothing to adopt. {file} stays as it is."
        return
    creates = proposal.before_sha256 is None
    yield f"- adopt: {code(command)} {'creates' if creates else 'changes'} {file}"
    if proposal.verdict.decision == "inconclusive":
        yield "  - nothing has shown that it helps; the flag says that you know"
    yield f"- undo: {undo} " + ("removes that file again" if creates else "restores that file byte for byte")
    yield "- do nothing: the proposal waits, and nothing changes"

"""A night with one result of each kind, as the engine would report it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from skillopt_sleep.domain.base import sha256_hex
from skillopt_sleep.domain.reports import (
    HarvestCounts,
    MineCounts,
    NightReport,
    Proposal,
    RoleSpend,
    SkillResult,
    SliceResult,
    TaskEvidence,
)
from skillopt_sleep.domain.skills import AddRule, EditOutcome, ReplaceRule
from skillopt_sleep.domain.verdicts import Verdict

STARTED = datetime(2026, 11, 28, 2, 14, 5, tzinfo=UTC)

OUTCOMES = (
    EditOutcome(
        edit=AddRule(
            text='Include a section headed "Known issues". For example:\n\n~~~\n## Known issues\n~~~',
            reason="Not met in 50 of 54 attempts",
        ),
        status="applied",
        rule_id="r-1",
    ),
    EditOutcome(
        edit=AddRule(text='Begin every reply with "Summary:".', reason="Not met in 51 of 54 attempts."),
        status="applied",
        rule_id="r-2",
    ),
    EditOutcome(
        edit=ReplaceRule(rule_id="r-9", text="Say that the tests passed.", reason="Readers like to know."),
        status="fabrication",
        detail='claims "the tests passed"',
    ),
)

EVIDENCE = (
    TaskEvidence(
        task_id="task-gift",
        family="fam-gift",
        prompt="Write the release notes for the gift-wrap preview.",
        passed_before=0,
        passed_after=3,
        samples=3,
        example_before="Shoppers now see their parcel wrapped before they pay.",
        example_after="Summary: Shoppers see their parcel.\n\n## Known issues\n\n- The bow is upside down.",
        unmet_before=('Include a section headed "Known issues".', 'Begin with "Summary:".'),
    ),
    TaskEvidence(
        task_id="task-jam",
        family="fam-jam",
        prompt="Prepare the release notes for the supplier portal for jam.",
        passed_before=3,
        passed_after=1,
        samples=3,
        example_before="Summary: jam.\n\n## Known issues\n\n- None.",
        example_after="Jam.",
        unmet_after=('Begin with "Summary:".',),
    ),
    TaskEvidence(
        task_id="task-lids",
        family="fam-lids",
        prompt="Prepare release notes for teapot lids as spare parts.",
        passed_before=0,
        passed_after=0,
        samples=2,
        missing=1,
        unmet_before=('Begin with "Summary:".',),
        unmet_after=('Begin with "Summary:".',),
    ),
    TaskEvidence(
        task_id="task-owl", family="fam-owl", prompt="Write.", passed_before=0, passed_after=0, samples=0, missing=3
    ),
)

DIFF = """--- a/SKILL.md
+++ b/SKILL.md
@@ -10,1 +10,3 @@
 - One joke about biscuits per release is plenty.
+- Include a section headed "Known issues".
+- Begin every reply with "Summary:".
"""


def better() -> Verdict:
    return Verdict(
        decision="accept",
        reason="improved",
        explanation="Better beyond chance: the score went from 0.03 to 0.93 over 20 task families.",
        before=0.03,
        after=0.93,
        effect=0.9,
        interval=(0.82, 0.98),
        p_value=0.00002,
        families=20,
        pairs=60,
    )


def unsure(needed: int | None = 2) -> Verdict:
    return Verdict(
        decision="inconclusive",
        reason="too_few_families",
        explanation="Too few tasks to tell: 3 task families with scores, and a verdict needs at least 5.",
        before=0.0,
        after=0.89,
        families=3,
        pairs=9,
        families_needed=needed,
    )


def no_gain() -> Verdict:
    return Verdict(
        decision="reject",
        reason="no_gain",
        explanation="No gain worth having: the score went from 0.00 to 0.00 over 12 task families.",
        before=0.0,
        after=0.0,
        effect=0.0,
        interval=(0.0, 0.0),
        p_value=1.0,
        families=12,
        pairs=36,
    )


def harmful() -> Verdict:
    return Verdict(
        decision="reject",
        reason="harmful",
        explanation="Worse beyond chance: the score went from 0.80 to 0.35 over 9 task families.",
        before=0.8,
        after=0.35,
        effect=-0.45,
        interval=(-0.62, -0.27),
        families=9,
        pairs=26,
        missing_pairs=1,
        regressed=("fam-a", "fam-b"),
    )


def result(skill: str, verdict: Verdict | None, **changes: Any) -> SkillResult:
    fields: dict[str, Any] = {
        "skill": skill,
        "target": f"/home/sam/.claude/skills/{skill}/SKILL.md",
        "families": {"train": 18, "gate": 20, "test": 8},
        "tasks": 46,
        "verdict": verdict,
        "calls": 276,
        "tokens": 104_200,
    }
    return SkillResult(**{**fields, **changes})


def results() -> tuple[SkillResult, ...]:
    return (
        result(
            "ledger-lookup",
            no_gain(),
            families={"train": 12, "gate": 12, "test": 6},
            test=SliceResult(slice="test", families=6, before=0.0, after=0.0, interval=(0.0, 0.0)),
            calls=180,
        ),
        result(
            "release-notes",
            better(),
            outcomes=OUTCOMES,
            train_before=0.02,
            test=SliceResult(slice="test", families=8, before=0.042, after=0.958, interval=(0.79, 1.0)),
            proposal_id="p-4f1c",
        ),
        result(
            "standup-note",
            unsure(),
            families={"train": 2, "gate": 3, "test": 1},
            test=SliceResult(slice="test", families=1, before=0.0, after=1.0),
            proposal_id="p-77aa",
            calls=36,
        ),
        result("tea-labels", None, families={}, tasks=0, stopped="It has no tasks to train on.", calls=0, tokens=0),
        result(
            "customer-letters",
            harmful(),
            families={"train": 7, "gate": 9, "test": 4},
            test=SliceResult(slice="test", families=4, before=0.75, after=0.5, interval=(-0.6, 0.1), missing_pairs=2),
            calls=120,
        ),
    )


def night(**changes: Any) -> NightReport:
    fields: dict[str, Any] = {
        "id": "20261128T021405Z-5d1e",
        "project": "/home/sam/shop",
        "status": "finished",
        "started_at": STARTED,
        "finished_at": datetime(2026, 11, 28, 2, 14, 23, tzinfo=UTC),
        "harvest": HarvestCounts(
            sessions=94,
            files=97,
            skipped={"headless": 1, "subagent": 2},
            skipped_lines={"truncated": 1, "not_json": 1},
            masked={"connection_password": 1},
        ),
        "mined": MineCounts(
            prompts=96, groups=4, families=83, tasks=82, dropped={"praise": 16, "seen in one session only": 8}
        ),
        "skills": results(),
        "spend": (
            RoleSpend(role="target", model="sim:strong", calls=600, cached=12, tokens=300_000, usd=0.0),
            RoleSpend(role="optimizer", model="template", calls=4, failed=1, tokens=4_200, usd=0.0),
        ),
        "simulated": True,
        "warnings": ("Claude Code deletes transcripts after 30 days; 3 of these go within a week",),
    }
    return NightReport(**{**fields, **changes})


def proposal(**changes: Any) -> Proposal:
    fields: dict[str, Any] = {
        "id": "p-4f1c",
        "night_id": "20261128T021405Z-5d1e",
        "project": "/home/sam/shop",
        "skill": "release-notes",
        "target": "/home/sam/.claude/skills/release-notes/SKILL.md",
        "before_sha256": sha256_hex("before"),
        "after_sha256": sha256_hex("after"),
        "created_at": STARTED,
        "outcomes": OUTCOMES,
        "verdict": better(),
        "test": SliceResult(slice="test", families=8, before=0.042, after=0.958, interval=(0.79, 1.0)),
        "evidence": EVIDENCE,
        "simulated": True,
        "models": {"target": "sim:strong", "optimizer": "template"},
    }
    return Proposal(**{**fields, **changes})

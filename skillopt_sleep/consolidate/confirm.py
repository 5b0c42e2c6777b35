"""Confirmation: the chosen edits meet the gate tasks, as far as the account of all earlier tests allows.

The gate asks for a batch of pairs, they are attempted with both documents side by side, the gate looks; and so on until
the answer is clear. The next batch is begun only after the present one is judged. Running ahead would keep more slots
busy, but it would buy exactly the attempts that an early answer saves, and the slots are filled anyway: by the sealed
test tasks and by other skills. Only the baseline of the very first batch is attempted ahead, beside the training
replays: whatever the candidate, it is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillopt_sleep.consolidate.bench import EpochOptions
from skillopt_sleep.consolidate.comparison import Comparison
from skillopt_sleep.domain.base import sha256_hex
from skillopt_sleep.domain.events import LookTaken
from skillopt_sleep.domain.gate_tests import GateTest, GateTests, Question
from skillopt_sleep.domain.ports import EventSink
from skillopt_sleep.domain.tasks import Task
from skillopt_sleep.domain.trials import Pair, PairedEvidence
from skillopt_sleep.domain.verdicts import Account, Verdict, VerdictReason
from skillopt_sleep.gate import SequentialGate, account, bar_to_judging, judge_gate, regressions, unmeasured
from skillopt_sleep.skilldoc import SkillDoc

Asked = tuple[tuple[str, int], ...]

_JUST_AN_IDEA: frozenset[VerdictReason] = frozenset({"overlap", "shape_only", "too_few_families"})
"""What bars a verdict but not a look: a person who decides without a verdict should at least see the scores."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """How the candidate of one skill will be confirmed. All of this is fixed before there is a candidate."""

    families: Mapping[str, tuple[str, ...]]
    """The gate slice: family -> ids of its tasks."""
    anchors: Mapping[str, tuple[str, ...]]
    """What must not get worse at all: name -> ids of the tasks that it pins."""
    options: EpochOptions
    tests: GateTests
    granted: account.Grant
    seed: int
    """Fixes the order of the families. It hangs on the document before the edits alone, so that the baseline can be
    attempted ahead, and no score can have influenced it."""
    overlap: bool
    shape_only: bool

    @classmethod
    def prepare(
        cls, doc: SkillDoc, tasks: Sequence[Task], options: EpochOptions, tests: GateTests, *, overlap: bool
    ) -> Confirmation:
        asked = [task for task in tasks if task.slice == "gate" and not options.gate_off]
        # a check of form that a model wrote carries no verdict, so it has no say where anything better has one
        substantial = [task for task in asked if not (task.shape_only and task.model_authored)]
        gate = substantial or asked
        families: dict[str, tuple[str, ...]] = {}
        for task in gate:
            families[task.family] = (*families.get(task.family, ()), task.id)
        return cls(
            families=families,
            anchors=_anchors(tasks, options.anchors),
            options=options,
            tests=tests,
            granted=account.grant(families, tests.all(), options.policy),
            seed=int(sha256_hex(f"order of families/{doc.sha256}")[:8], 16),
            overlap=overlap,
            shape_only=bool(gate) and not substantial,
        )

    @property
    def first_batch(self) -> Asked:
        """The pairs that any candidate will be judged by first."""
        if self._at_one_look:
            return self._everything
        if self.granted.level is None:
            return ()
        policy = self.options.policy.model_copy(update={"alpha": self.granted.level})
        return SequentialGate(self.granted.families, policy, seed=self.seed).next_batch()

    @property
    def most_pairs(self) -> int:
        """Pairs of the full budget."""
        return len(self._everything)

    async def decide(self, question: Question, comparison: Comparison, events: EventSink) -> Verdict:
        """The verdict on a candidate. Every look is kept in `tests` before the next attempt is begun."""
        if self._at_one_look:
            evidence = await comparison.pairs(self._everything)
            return judge_gate(evidence, self.options.policy, overlap=self.overlap, shape_only=self.shape_only)
        past = self.tests.all()
        earlier = [test for test in past if test.question == question and test.families.keys() & self.families.keys()]
        unfinished = [test for test in earlier if test.verdict is None]
        if unfinished:
            test = unfinished[-1]
        else:
            granted = account.grant_unused(self.families, past, self.options.policy) if earlier else self.granted
            if granted is None:
                return _restated(earlier[-1])
            if granted.level is None:
                return self._no_test()
            test = self._opened(question, granted, granted.level)
        gate = SequentialGate(test.families, test.policy, seed=test.seed)
        test = await self._gather(gate, test, comparison, events)
        verdict = gate.verdict()
        if verdict is None:
            raise ValueError("the gate asked for nothing more and has no verdict")
        if verdict.decision == "accept":
            verdict = await self._look_for_harm(verdict, gate.evidence, test, comparison)
        verdict = verdict.model_copy(update={"account": self._standing(test.families, test.number)})
        if verdict.reason != "too_many_missing":  # an outage closes no test: the next night goes on with it
            self.tests.save(test.model_copy(update={"verdict": verdict}))
        return verdict

    @property
    def _everything(self) -> Asked:
        samples = range(self.options.policy.samples)
        return tuple((task, sample) for sample in samples for tasks in self.families.values() for task in tasks)

    @property
    def _at_one_look(self) -> bool:
        bar = bar_to_judging(
            len(self.families), self.options.policy, overlap=self.overlap, shape_only=self.shape_only, edits=None
        )
        return self.options.one_look or bar in _JUST_AN_IDEA

    def _opened(self, question: Question, granted: account.Grant, level: float) -> GateTest:
        return GateTest(
            question=question,
            families=granted.families,
            policy=self.options.policy.model_copy(update={"alpha": level}),
            seed=self.seed,
            number=granted.number,
        )

    def _no_test(self) -> Verdict:
        """Nothing could be accepted, so nothing is spent."""
        if self.granted.number == 1:
            return unmeasured("untestable", self.options.policy, families=len(self.families))
        left = self._standing(self.families, self.granted.number - 1)
        verdict = unmeasured("used_up", self.options.policy, families=len(self.families))
        return verdict.model_copy(update={"account": left, "families_needed": left.unused_needed})

    def _standing(self, tested: Mapping[str, tuple[str, ...]], number: int) -> Account:
        return account.standing(tested, self.families, self.tests.all(), self.options.policy, number=number)

    async def _gather(
        self, gate: SequentialGate, test: GateTest, comparison: Comparison, events: EventSink
    ) -> GateTest:
        """Let the gate have what it asks for; first from what earlier nights have gathered for this very test."""
        kept = {(pair.task_id, pair.sample): pair for pair in test.pairs}
        family_of = {task: family for family, tasks in test.families.items() for task in tasks}
        while batch := gate.next_batch():
            known = [kept[key] for key in batch if key in kept]
            fresh = await comparison.pairs(key for key in batch if key not in kept)
            found = {(pair.task_id, pair.sample): pair for pair in (*known, *fresh.pairs)}
            gate.observe(found.get(key) or _gone(family_of[key[0]], *key) for key in batch)
            if kept.keys() >= set(batch):
                continue  # a look of an earlier night, taken once more; what is kept already goes further
            if not gate.too_many_missing:  # else nothing was looked at, and the batch is asked for again
                test = test.model_copy(update={"pairs": gate.evidence.pairs, "looks": gate.looks})
                self.tests.save(test)
            if fresh.pairs:
                events(_look(question=test.question, gate=gate))
        return test

    async def _look_for_harm(
        self, verdict: Verdict, evidence: PairedEvidence, test: GateTest, comparison: Comparison
    ) -> Verdict:
        """What only an edit that would be accepted has to go through: has any family got worse?"""
        policy = test.policy
        unseen = regressions.sweep_batch(evidence, test.families)
        pinned = regressions.anchor_batch((task for tasks in self.anchors.values() for task in tasks), policy)
        more = await comparison.pairs(dict.fromkeys((*unseen, *pinned)))
        sweep, anchored = _among(more, unseen), _among(more, pinned)
        seen = PairedEvidence(pairs=(*evidence.pairs, *sweep.pairs))
        suspected = regressions.suspects(seen, policy, planned=len(test.families))
        fresh = await comparison.pairs(regressions.fresh_batch(suspected, test.families, policy))
        findings = regressions.judge_fresh(fresh, suspected, anchored, self.anchors, policy)
        known = {(pair.task_id, pair.sample) for pair in evidence.pairs}
        beside = {(pair.task_id, pair.sample) for pair in (*more.pairs, *fresh.pairs)}
        return regressions.with_findings(verdict, suspected, findings, pairs=len(beside - known))


def _anchors(tasks: Sequence[Task], names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """What is pinned among these tasks: by the person's setting, or in the task itself."""
    pinned = {name: tuple(task.id for task in tasks if name in (task.id, task.family)) for name in names}
    pinned |= {task.id: (task.id,) for task in tasks if task.anchor}
    return {name: ids for name, ids in pinned.items() if ids}


def _among(evidence: PairedEvidence, asked: Asked) -> PairedEvidence:
    return PairedEvidence(pairs=tuple(pair for pair in evidence.pairs if (pair.task_id, pair.sample) in asked))


def _gone(family: str, task: str, sample: int) -> Pair:
    """A pair that cannot be gathered, because the task is not at hand any more."""
    return Pair(family=family, task_id=task, sample=sample, before=None, after=None)


def _look(question: Question, gate: SequentialGate) -> LookTaken:
    return LookTaken(
        skill=question.skill,
        look=gate.looks,
        pairs=len(gate.evidence.pairs),
        planned=gate.pairs_planned,
        settled=gate.verdict() is not None,
    )


def _restated(test: GateTest) -> Verdict:
    """The verdict of a test that is closed. The same change is never tested twice on the same tasks."""
    if test.verdict is None:
        raise ValueError("only a closed test has a verdict to state again")
    said = "(Found in an earlier night: the same change is not tested twice on the same tasks.)"
    return test.verdict.model_copy(update={"explanation": f"{test.verdict.explanation} {said}"})

"""The gate that asks for its evidence, in the words of tasks, pairs and verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from skillopt_sleep.domain.trials import Pair, PairedEvidence
from skillopt_sleep.domain.verdicts import GatePolicy, Verdict, VerdictReason
from skillopt_sleep.gate.judge import bar_to_judging, no_gain, verdict_of
from skillopt_sleep.gate.looks import SequentialTest
from skillopt_sleep.gate.table import Table, score_of


class SequentialGate:
    """A gate that asks for its evidence.

    Use: while `next_batch` is not empty, attempt those tasks with both documents and hand all the pairs to `observe`;
    then `verdict`. Pair the k-th sample before with the k-th sample after, also where the baseline is cached: further
    cached samples must not count, and an attempt that put a task into the gate slice is not evidence.

    Single families are not judged here: those of an edit that is accepted are (`skillopt_sleep.gate.regressions`).
    """

    def __init__(
        self,
        families: Mapping[str, Sequence[str]],
        policy: GatePolicy,
        *,
        seed: int = 0,
        overlap: bool = False,
        shape_only: bool = False,
        edits: int | None = None,
    ) -> None:
        """`families`: family -> ids of its tasks. `seed`: fixes the order. The other words: see `judge_gate`.

        Raises `ValueError` for a task that stands there twice.
        """
        self._families = {family: tuple(tasks) for family, tasks in sorted(families.items()) if tasks}
        listed = [task for tasks in self._families.values() for task in tasks]
        if len(set(listed)) < len(listed):
            raise ValueError("a task may stand in one family only, and there once")
        self._policy = policy
        self._test = SequentialTest([len(tasks) for tasks in self._families.values()], policy, seed=seed)
        bar = bar_to_judging(len(self._families), policy, overlap=overlap, shape_only=shape_only, edits=edits)
        self._bar: VerdictReason | None = bar if bar or self._test.testable else "untestable"
        self._pairs: list[Pair] = []

    @property
    def evidence(self) -> PairedEvidence:
        """Everything observed so far."""
        return PairedEvidence(pairs=tuple(self._pairs))

    def next_batch(self) -> tuple[tuple[str, int], ...]:
        """The (task, sample) pairs to gather next; empty once there is a verdict, at once where none is possible."""
        return tuple((task, sample) for _, task, sample in self._asked_for())

    def observe(self, pairs: Iterable[Pair]) -> None:
        """Take in the batch that was asked for, in any order, and look. Raises `ValueError` for any other pairs."""
        given = {(pair.family, pair.task_id, pair.sample): pair for pair in pairs}
        asked = self._asked_for()
        if set(asked) != set(given):
            raise ValueError(f"asked for {asked}, given {sorted(given)}")
        numbers = {family: number for number, family in enumerate(self._families)}
        for pair in (given[key] for key in asked):
            scores = (None if mark is None else score_of(mark, self._policy) for mark in (pair.before, pair.after))
            self._test.record(numbers[pair.family], *scores)
            self._pairs.append(pair)
        if asked:
            self._test.look()

    def verdict(self) -> Verdict | None:
        """The verdict, or None while the question is open. p counts every look taken; the interval does not."""
        if self._bar is None and self._test.outcome is None:
            return None
        table = Table.of(self.evidence, self._policy)
        planned = len(self._families)
        if self._bar is not None:
            return verdict_of(self._bar, table, self._policy, planned=planned)
        p_better, p_worse = self._test.p_values
        table = replace(table, p_better=p_better, p_worse=p_worse, regressed=())
        verdict = verdict_of(self._reason(table), table, self._policy, planned=planned).model_copy(
            update={"looks": self._test.looks, "pairs_planned": self._test.pairs_planned}
        )
        if self._test.outcome == "futile" and verdict.decision != "reject":
            early = " Stopped early: the rest of the budget would hardly have changed that."
            return verdict.model_copy(update={"explanation": verdict.explanation + early})
        return verdict

    @property
    def looks(self) -> int:
        """How often the evidence was looked at."""
        return self._test.looks

    @property
    def pairs_planned(self) -> int:
        """Pairs that the full budget holds."""
        return self._test.pairs_planned

    @property
    def too_many_missing(self) -> bool:
        """Whether so many pairs lack a score that the last look could not count."""
        return self._test.too_many_missing

    def _asked_for(self) -> list[tuple[str, str, int]]:
        stage = self._test.stage if self._bar is None else None
        if stage is None:
            return []
        names = list(self._families)
        chosen = [names[number] for number in self._test.families_of(stage)]
        return [(family, task, stage.sample) for family in chosen for task in self._families[family]]

    def _reason(self, table: Table) -> VerdictReason:
        if self._test.outcome == "better":
            return "improved"
        if self._test.outcome == "worse":
            return "harmful"
        if self._test.too_many_missing:
            return "too_many_missing"
        if len(table.effects) < self._policy.min_families:
            return "too_few_families"
        return "no_gain" if no_gain(table.effects, self._policy) else "not_enough_evidence"

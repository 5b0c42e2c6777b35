"""How often the gate is right, and what it costs.

    python -m benchmarks.gate [--trials N] [--families 5,8] [--tables operating nulls ...] [--picture docs/gate-oc.svg]

Seeded. The nights are decided on arrays by `benchmarks.gate_twin`, which is proved to decide as the product does; the
levels come from the product's account, and the search for harm is the product's own code. In the simulated world a
family has a pass rate p ~ Beta(4m, 4(1 - m)) before the edit, and clip(p + effect) plus a symmetric difference between
families (at most .15) after it, so that "effect 0" means no effect on average. Clipping shrinks large effects: +0.3 is
really .30 / .28 / .21 / .09 at m = .3 / .5 / .7 / .9. Every gate sees the same draws.
"""

from __future__ import annotations

import argparse
import math
import random
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.gate_picture import Curve, picture
from benchmarks.gate_twin import BETTER, WORSE, Decided, Floats, fixed_p, outcomes
from skillopt_sleep.domain.gate_tests import GateTest, Question
from skillopt_sleep.domain.trials import Mark, Pair, PairedEvidence
from skillopt_sleep.domain.verdicts import GatePolicy
from skillopt_sleep.gate import account, regressions, testable
from skillopt_sleep.stats import wilson_interval

SAMPLES = 3
RATES = (0.3, 0.5, 0.7)
HIGH_RATE = 0.9
EFFECTS = (-0.1, 0.0, 0.1, 0.2, 0.3, 0.5)
CHECKS = 5
"""Checks of a task in the world of soft scores: a soft score is the share of them that held."""
NIGHTS = 10

Maker = Callable[[np.random.Generator, int, int], tuple[Floats, Floats]]
"""(generator, nights, families) -> pass rates before and after, of the shape (nights, families)."""


# --- worlds -----------------------------------------------------------------------------------------------------------


def shifted(rate: float, effect: float) -> Maker:
    def make(rng: np.random.Generator, nights: int, families: int) -> tuple[Floats, Floats]:
        before = rng.beta(4 * rate, 4 * (1 - rate), size=(nights, families))
        after = np.clip(before + effect, 0.0, 1.0)
        spread = np.minimum(0.15, np.minimum(after, 1.0 - after))
        return before, after + rng.uniform(-1.0, 1.0, size=after.shape) * spread

    return make


def mixture(*parts: tuple[float, float, float]) -> Maker:
    """Families of several kinds: (share, pass rate before, pass rate after)."""

    def make(rng: np.random.Generator, nights: int, families: int) -> tuple[Floats, Floats]:
        kinds = rng.choice(len(parts), size=(nights, families), p=[share for share, _, _ in parts])
        return np.array([part[1] for part in parts])[kinds], np.array([part[2] for part in parts])[kinds]

    return make


def one_collapses(rest: Maker) -> Maker:
    """The first family falls from .9 to 0, whatever the others do. (The gate orders families at random.)"""

    def make(rng: np.random.Generator, nights: int, families: int) -> tuple[Floats, Floats]:
        before, after = rest(rng, nights, families)
        before[:, 0], after[:, 0] = 0.9, 0.0
        return before, after

    return make


ODD_NULLS: dict[str, Maker] = {
    "identical, all at .5": mixture((1.0, 0.5, 0.5)),
    "half +.4, half -.4": mixture((0.5, 0.5, 0.9), (0.5, 0.5, 0.1)),
    "skewed: 80 % +.1, 20 % -.4": mixture((0.8, 0.5, 0.6), (0.2, 0.5, 0.1)),
    "badly skewed: 90 % .9 to 1, 10 % .9 to 0": mixture((0.9, 0.9, 1.0), (0.1, 0.9, 0.0)),
}


@dataclass(frozen=True)
class Nights:
    """Many simulated nights: rates by family, and pass/fail or soft scores by family and sample."""

    rates: tuple[Floats, Floats]
    before: Floats
    after: Floats
    seeds: list[int]

    @classmethod
    def of(cls, name: str, families: int, make: Maker, trials: int, *, soft: bool = False) -> Nights:
        rng = generator(name, families)
        rates = make(rng, trials, families)
        before, after = (scores(rng, rate, soft=soft) for rate in rates)
        return cls(rates, before, after, [int(seed) for seed in rng.integers(2**32, size=trials)])

    def decide(self, policy: GatePolicy, *, grid: int = 1) -> Decided:
        return outcomes(self.before, self.after, policy, self.seeds, grid=grid)


def generator(name: str, families: int) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(f"{name}/{families}".encode()))


def scores(rng: np.random.Generator, rates: Floats, *, soft: bool = False, samples: int = SAMPLES) -> Floats:
    shape = (*rates.shape, samples)
    wide = np.broadcast_to(rates[..., None], shape)
    if not soft:
        return (rng.random(shape) < wide).astype(np.float64)
    inner = np.clip(wide, 1e-6, 1 - 1e-6)
    return rng.binomial(CHECKS, rng.beta(4 * inner, 4 * (1 - inner))) / CHECKS


# --- what came of them ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tally:
    """What the gates made of the nights of one or more cells."""

    trials: int
    accepted: int
    rejected: int
    calls: int
    fixed: int
    naive: int
    budget: int
    gain: float
    """Sum over nights of the true mean effect."""

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(a + b for a, b in zip(self._fields, other._fields, strict=True)))  # type: ignore[arg-type]

    @property
    def _fields(self) -> tuple[float, ...]:
        return (
            self.trials,
            self.accepted,
            self.rejected,
            self.calls,
            self.fixed,
            self.naive,
            self.budget,
            self.gain,
        )

    def rate(self, count: float) -> float:
        return count / self.trials

    @property
    def share_of_calls(self) -> float:
        return self.calls / self.budget


def run_cell(name: str, families: int, make: Maker, trials: int, policy: GatePolicy) -> Tally:
    soft = policy.metric == "soft"
    nights = Nights.of(name, families, make, trials, soft=soft)
    decided = nights.decide(policy, grid=CHECKS if soft else 1)
    gains = (nights.after - nights.before).mean(axis=2)
    return Tally(
        trials=trials,
        accepted=int((decided.outcome == BETTER).sum()),
        rejected=int(rejects(decided, policy).sum()),
        calls=int(2 * decided.used.sum()),
        fixed=0 if soft else int((fixed_p(nights.before, nights.after) <= policy.alpha).sum()),
        naive=int((gains.mean(axis=1) > 1e-12).sum()),
        budget=2 * families * SAMPLES * trials,
        gain=float((nights.rates[1] - nights.rates[0]).mean(axis=1).sum()),
    )


def rejects(decided: Decided, policy: GatePolicy) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Harmful, or no gain worth having: `judge.no_gain` on arrays."""
    seen = (decided.counts > 0).sum(axis=1)
    mean = decided.effects.sum(axis=1) / seen.clip(1)
    plausible = mean + 1.2815515655446004 * np.sqrt((decided.effects**2).sum(axis=1) + 0.25) / seen.clip(1)
    no_gain = (mean <= 0.0) & (plausible < policy.min_effect)
    return np.asarray((decided.outcome == WORSE) | ((decided.outcome != BETTER) & no_gain & (seen > 0)))


def over_rates(name: str, families: int, effect: float, trials: int, policy: GatePolicy) -> Tally:
    first, *others = (
        run_cell(f"{name}/{rate}/{effect}", families, shifted(rate, effect), trials, policy) for rate in RATES
    )
    for other in others:
        first += other
    return first


def levels(families: int, policy: GatePolicy, tests: int) -> list[float | None]:
    """What the product's account gives to one test after the other on the same families."""
    slice_ = {f"f{number}": (f"t{number}",) for number in range(families)}
    past: list[GateTest] = []
    found: list[float | None] = []
    for number in range(tests):
        granted = account.grant(slice_, past, policy)
        found.append(granted.level)
        if granted.level is None:
            continue
        question = Question(
            skill="s", before_sha256=None, after_sha256=str(number), agent="a", judge="j", metric="hard"
        )
        at_level = policy.model_copy(update={"alpha": granted.level})
        past.append(
            GateTest(question=question, families=slice_, policy=at_level, seed=0, number=granted.number, looks=1)
        )
    return found


def at(policy: GatePolicy, level: float) -> GatePolicy:
    return policy.model_copy(update={"alpha": level})


# --- tables -----------------------------------------------------------------------------------------------------------


def _row(*cells: object) -> str:
    return "| " + " | ".join(f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells) + " |"


def _header(*names: str) -> Iterator[str]:
    yield ""
    yield _row(*names)
    yield _row(*("---" for _ in names))


def _percents(*shares: float) -> str:
    return " / ".join(f"{share:.0%}" for share in shares)


def _shares(*shares: float) -> str:
    return " / ".join(f"{share:.2f}" for share in shares)


def operating_table(sizes: Sequence[int], trials: int, policy: GatePolicy) -> Iterator[str]:
    """The whole alpha for one test. Pass rates .3, .5 and .7 together, and .9 by itself."""
    yield from _header(
        "families",
        "gate: false accept (worst rate)",
        "gate: accepts -.1",
        "gate: finds +.1 / .2 / .3 / .5",
        "fixed exact: finds +.1 / .2 / .3 / .5",
        "naive: false accept, accepts -.1",
        "fixed exact: false accept",
        "calls at 0 / +.3 / +.5",
        "rejects a true +.3 (rate .5)",
        "at rate .9: false accept, finds +.3",
    )
    for size in sizes:
        cells = {
            (rate, effect): run_cell(f"{rate}/{effect}", size, shifted(rate, effect), trials, policy)
            for rate in (*RATES, HIGH_RATE)
            for effect in (EFFECTS if rate != HIGH_RATE else (0.0, 0.3))
        }
        by = {effect: cells[0.3, effect] + cells[0.5, effect] + cells[0.7, effect] for effect in EFFECTS}
        null, gains = by[0.0], [by[effect] for effect in (0.1, 0.2, 0.3, 0.5)]
        worst = max(cells[rate, 0.0].rate(cells[rate, 0.0].accepted) for rate in (*RATES, HIGH_RATE))
        middle, high_null, high = cells[0.5, 0.3], cells[HIGH_RATE, 0.0], cells[HIGH_RATE, 0.3]
        yield _row(
            size,
            f"{null.rate(null.accepted):.3f} ({worst:.3f})",
            by[-0.1].rate(by[-0.1].accepted),
            _shares(*(tally.rate(tally.accepted) for tally in gains)),
            _shares(*(tally.rate(tally.fixed) for tally in gains)),
            f"{null.rate(null.naive):.2f}, {by[-0.1].rate(by[-0.1].naive):.2f}",
            null.rate(null.fixed),
            _percents(null.share_of_calls, by[0.3].share_of_calls, by[0.5].share_of_calls),
            middle.rate(middle.rejected),
            f"{high_null.rate(high_null.accepted):.3f}, {high.rate(high.accepted):.2f}",
        )


def level_table(sizes: Sequence[int], trials: int, policy: GatePolicy) -> Iterator[str]:
    """The same at the levels that the account really gives to the first three tests on the same families."""
    yield from _header(
        "families, test",
        "level",
        "false accept",
        "accepts -.1",
        "finds +.1 / .2 / .3 / .5",
        "fixed exact at this level: finds +.1 / .2 / .3 / .5",
        "calls at 0 / +.3 / +.5",
        "rejects a true +.3 (rate .5)",
        "0 to 1: accepted, mean calls",
    )
    for size in sizes:
        for number, level in enumerate(levels(size, policy, 3), start=1):
            if level is None:
                yield _row(f"{size}, test {number}", "used up", *("" for _ in range(7)))
                continue
            here = at(policy, level)
            by = {effect: over_rates("level", size, effect, trials, here) for effect in EFFECTS}
            gains = [by[effect] for effect in (0.1, 0.2, 0.3, 0.5)]
            middle = run_cell("level/0.5/0.3", size, shifted(0.5, 0.3), trials, here)
            up = run_cell("clear", size, mixture((1.0, 0.0, 1.0)), 200, here)
            yield _row(
                f"{size}, test {number}",
                f"{level:.2%}",
                by[0.0].rate(by[0.0].accepted),
                by[-0.1].rate(by[-0.1].accepted),
                _shares(*(tally.rate(tally.accepted) for tally in gains)),
                _shares(*(tally.rate(tally.fixed) for tally in gains)),
                _percents(*(by[effect].share_of_calls for effect in (0.0, 0.3, 0.5))),
                middle.rate(middle.rejected),
                f"{up.rate(up.accepted):.0%}, {up.calls / up.trials:.1f}",
            )


def clear_table(sizes: Sequence[int], trials: int, policy: GatePolicy) -> Iterator[str]:
    """Deterministic cases: every attempt fails before and passes after, or the other way round, or never changes."""
    yield from _header(
        "families", "0 to 1: accepted, mean calls", "1 to 0: rejected, mean calls", "0 to 0: mean calls", "full budget"
    )
    for size in sizes:
        up, down, same = (
            run_cell("clear", size, mixture((1.0, *rates)), max(20, trials // 10), policy)
            for rates in ((0.0, 1.0), (1.0, 0.0), (0.0, 0.0))
        )
        yield _row(
            size,
            f"{up.rate(up.accepted):.0%}, {up.calls / up.trials:.1f}",
            f"{down.rate(down.rejected):.0%}, {down.calls / down.trials:.1f}",
            f"{same.calls / same.trials:.1f}",
            2 * size * SAMPLES,
        )


def null_table(sizes: Sequence[int], trials: int, policy: GatePolicy) -> Iterator[str]:
    """False accepts where the mean effect is 0 but the families do not simply stay as they are."""
    yield from _header("no effect on average", *(f"{size} families" for size in sizes))
    for name, make in ODD_NULLS.items():
        tallies = [run_cell(name, size, make, trials, policy) for size in sizes]
        yield _row(name, *(tally.rate(tally.accepted) for tally in tallies))


def soft_table(sizes: Sequence[int], trials: int, policy: GatePolicy) -> Iterator[str]:
    """Soft scores: the share of five checks that held, in the same worlds. Less noise and fewer ties than pass/fail."""
    yield from _header(
        "families", "false accept (worst rate)", "accepts -.1", "finds +.1 / .2 / .3", "calls at 0 / +.3"
    )
    soft = policy.model_copy(update={"metric": "soft"})
    for size in sizes:
        nulls = [run_cell(f"soft/{rate}/0.0", size, shifted(rate, 0.0), trials, soft) for rate in (*RATES, HIGH_RATE)]
        by = {effect: over_rates("soft", size, effect, trials, soft) for effect in (-0.1, 0.0, 0.1, 0.2, 0.3)}
        yield _row(
            size,
            f"{by[0.0].rate(by[0.0].accepted):.3f} ({max(null.rate(null.accepted) for null in nulls):.3f})",
            by[-0.1].rate(by[-0.1].accepted),
            _shares(*(by[effect].rate(by[effect].accepted) for effect in (0.1, 0.2, 0.3))),
            _percents(by[0.0].share_of_calls, by[0.3].share_of_calls),
        )


def night_table(sizes: Sequence[int], trials: int, policy: GatePolicy) -> Iterator[str]:
    """Ten nights on the same families, an idle edit in each: how often anything at all is adopted (pass rate .5).

    "Cached": the attempts before the edit are the same in all nights. "Same edit": it is proposed every night; the
    naive gate tries it anew each time, the product tests a change once.
    """
    yield from _header(
        "families",
        "naive, new edits",
        "naive, same edit, cached",
        "gate at 5 % every night, new edits",
        "gate with account, new edits",
        "gate with account, new edits, cached",
        "gate with account, same edit",
    )
    for size in sizes:
        rng = generator("nights", size)
        rates, _ = shifted(0.5, 0.0)(rng, trials, size)
        cached = scores(rng, rates)
        granted = levels(size, policy, NIGHTS)
        adopted = {name: np.zeros(trials, dtype=bool) for name in ("naive", "naive cached", "flat", "new", "cached")}
        same = np.zeros(trials, dtype=bool)
        for number, level in enumerate(granted):
            before, after = scores(rng, rates), scores(rng, rates)
            seeds = [int(seed) for seed in rng.integers(2**32, size=trials)]
            adopted["naive"] |= (after - before).mean(axis=(1, 2)) > 1e-12
            adopted["naive cached"] |= (after - cached).mean(axis=(1, 2)) > 1e-12
            adopted["flat"] |= outcomes(before, after, policy, seeds).outcome == BETTER
            if level is None:
                continue
            adopted["new"] |= outcomes(before, after, at(policy, level), seeds).outcome == BETTER
            adopted["cached"] |= outcomes(cached, after, at(policy, level), seeds).outcome == BETTER
            if number == 0:
                same = adopted["new"].copy()
        yield _row(size, *(float(found.mean()) for found in (*adopted.values(), same)))


def harm_table(sizes: Sequence[int], trials: int, policy: GatePolicy) -> Iterator[str]:
    """One family collapses from .9 to 0 under an edit that helps the others. At the level of the first test.

    "Blocked" is the share of the nights in which the gate's test alone would have accepted. Extra calls are means over
    those nights, for the sweep and the fresh attempts together. The last columns: an edit that makes nothing worse
    (+.3, pass rate .5), and how often it is blocked all the same.
    """
    yield from _header(
        "families",
        "others 0 to 1: test alone accepts, of these blocked",
        "others +.5 (rate .3): test alone accepts, of these blocked",
        "extra calls",
        "nothing worse: blocked by mistake",
        "extra calls then",
    )
    for size in sizes:
        level = levels(size, policy, 1)[0]
        if level is None:
            continue
        here = at(policy, level)
        collapse = [
            _harm(f"harm/{name}", size, one_collapses(make), trials, here)
            for name, make in (("clear", mixture((1.0, 0.0, 1.0))), ("noisy", shifted(0.3, 0.5)))
        ]
        fine = _harm("harm/fine", size, shifted(0.5, 0.3), trials, here)
        yield _row(
            size,
            *(f"{found.accepted / trials:.0%}, {_of(found.blocked, found.accepted)}" for found in collapse),
            f"{collapse[0].extra:.0f}, {collapse[1].extra:.0f}",
            _of(fine.blocked, fine.accepted),
            f"{fine.extra:.0f}",
        )


def _of(part: int, whole: int) -> str:
    if not whole:
        return "never came to it"
    low, high = wilson_interval(part, whole)
    return f"{part / whole:.1%} [{low:.1%}, {high:.1%}]"


@dataclass(frozen=True)
class Harm:
    accepted: int
    blocked: int
    extra: float


def _harm(name: str, families: int, make: Maker, trials: int, policy: GatePolicy) -> Harm:
    nights = Nights.of(name, families, make, trials)
    decided = nights.decide(policy)
    rng = random.Random(name)
    accepted = np.flatnonzero(decided.outcome == BETTER)
    blocked = calls = 0
    for night in accepted:
        found, extra = _look_for_harm(nights, decided, int(night), policy, rng)
        blocked += found
        calls += extra
    return Harm(len(accepted), blocked, calls / max(1, len(accepted)))


def _look_for_harm(
    nights: Nights, decided: Decided, night: int, policy: GatePolicy, rng: random.Random
) -> tuple[bool, int]:
    """What the product does before it accepts, with its own functions: whether it blocks, and the calls it takes."""
    families = decided.counts.shape[1]
    tasks = {f"f{number:02}": (f"f{number:02}",) for number in range(families)}

    def pair(task: str, sample: int) -> Pair:
        number = int(task[1:])
        if sample < SAMPLES:
            before, after = nights.before[night, number, sample], nights.after[night, number, sample]
        else:
            before, after = (float(rng.random() < rates[night, number]) for rates in nights.rates)
        marks = (Mark(hard=float(score), soft=float(score)) for score in (before, after))
        return Pair(family=task, task_id=task, sample=sample, before=next(marks), after=next(marks))

    used = [pair(f"f{n:02}", k) for n in range(families) for k in range(int(decided.counts[night, n]))]
    sweep = [pair(*asked) for asked in regressions.sweep_batch(PairedEvidence(pairs=tuple(used)), tasks)]
    suspected = regressions.suspects(PairedEvidence(pairs=(*used, *sweep)), policy, planned=families)
    fresh = [pair(*asked) for asked in regressions.fresh_batch(suspected, tasks, policy)]
    findings = regressions.judge_fresh(PairedEvidence(pairs=tuple(fresh)), suspected, PairedEvidence(), {}, policy)
    return bool(findings.regressed), 2 * (len(sweep) + len(fresh))


def trap_table(sizes: Sequence[int], trials: int, policy: GatePolicy) -> Iterator[str]:
    """What misleads a gate that is built the other way, at effect 0: false accepts of that way, and of ours."""
    yield from _header(
        "families",
        "12 cached attempts before v 1 after (rate .9): fixed test on means",
        "ours: the k-th with the k-th",
        "families chosen for a failed attempt that then counts (rate .7)",
        "ours: fresh attempts only",
        "0 to 1 at an alpha below one sign vector: accepts, calls",
    )
    for size in sizes:
        rng = generator("traps", size)
        rates, _ = shifted(HIGH_RATE, 0.0)(rng, trials, size)
        twelve, one = scores(rng, rates, samples=12), scores(rng, rates, samples=1)
        lopsided = _means_accept(twelve.mean(axis=2), one.mean(axis=2), policy)
        paired = Nights.of("traps/paired", size, lambda *_, kept=rates: (kept, kept), trials).decide(policy)

        pool = rng.beta(4 * 0.7, 4 * 0.3, size=(trials, size * 60))
        failed = rng.random(pool.shape) >= pool
        chosen = np.argsort(~failed, axis=1, kind="stable")[:, :size]
        kept = pool[np.arange(trials)[:, None], chosen]
        before, after = scores(rng, kept), scores(rng, kept)
        reused = before.copy()
        reused[:, :, 0] = 0.0  # the attempt that put the family into the slice
        seeds = [int(seed) for seed in rng.integers(2**32, size=trials)]
        wrong, right = (outcomes(arm, after, policy, seeds).outcome == BETTER for arm in (reused, before))

        tiny = 0.9 / 2**size if size <= 12 else None
        if tiny is not None and testable(size, tiny):
            raise AssertionError("an alpha below one sign vector must be untestable")
        yield _row(
            size,
            lopsided,
            float((paired.outcome == BETTER).mean()),
            float(wrong.mean()),
            float(right.mean()),
            "untestable, 0" if tiny is not None else "",
        )


def _means_accept(before: Floats, after: Floats, policy: GatePolicy) -> float:
    """How often the fixed sign-flip test accepts on means with unequal counts, by 2,000 random sign vectors."""
    rng = np.random.default_rng(0)
    effects = after - before
    signs = rng.choice((-1.0, 1.0), size=(2000, effects.shape[1]))
    signs[0] = 1.0
    sums = effects @ signs.T
    return float(((sums >= effects.sum(axis=1)[:, None] - 1e-9).mean(axis=1) <= policy.alpha).mean())


# --- the picture ------------------------------------------------------------------------------------------------------


def draw_picture(path: Path, sizes: Sequence[int], trials: int, policy: GatePolicy) -> None:
    """How often an edit is accepted, by how good it really is: at the level of the first test on its families."""
    effects = (-0.3, -0.2, -0.1, 0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
    curves = []
    naive: list[tuple[float, float]] = []
    for size in sizes:
        level = levels(size, policy, 1)[0]
        if level is None:
            continue
        # a curve through eleven points needs fewer nights at each than a figure that is quoted
        tallies = [over_rates("picture", size, effect, max(5, trials // 4), at(policy, level)) for effect in effects]
        curves.append(Curve(f"{size} families", [(t.rate(t.gain), t.rate(t.accepted)) for t in tallies]))
        if size == 12:
            naive = [(t.rate(t.gain), t.rate(t.naive)) for t in tallies]
    path.write_text(picture(curves, Curve("12 families, “the mean went up”", naive)), encoding="utf-8")


Table = Callable[[Sequence[int], int, GatePolicy], Iterator[str]]
TABLES: dict[str, Table] = {
    "operating": operating_table,
    "levels": level_table,
    "clear": clear_table,
    "nulls": null_table,
    "soft": soft_table,
    "nights": night_table,
    "harm": harm_table,
    "traps": trap_table,
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Measure the gate on simulated families.")
    parser.add_argument("--trials", type=int, default=2000, help="nights of each cell (default 2000)")
    parser.add_argument("--families", default="5,8,12,20,40", help="numbers of families, comma-separated")
    parser.add_argument("--tables", nargs="*", choices=list(TABLES), default=list(TABLES), help="which tables")
    parser.add_argument("--picture", type=Path, help="also write the picture of the operating characteristic here")
    options = parser.parse_args(arguments)
    sizes = [int(size) for size in options.families.split(",")]
    policy = GatePolicy(samples=SAMPLES)
    one, three = (math.sqrt(0.05 * 0.95 / (options.trials * rates)) for rates in (1, 3))
    print(f"alpha {policy.alpha}, {SAMPLES} samples; {options.trials} nights a cell. Standard error of a share of 5 %:")
    print(f"{one:.4f} in one cell, {three:.4f} over the three pass rates .3, .5 and .7.")
    for name in options.tables:
        started = time.perf_counter()
        table = TABLES[name]
        print(f"\n### {name}\n\n{(table.__doc__ or '').strip()}", flush=True)
        for line in table(sizes, options.trials, policy):
            print(line, flush=True)
        print(f"\n({time.perf_counter() - started:.0f} s)", flush=True)
    if options.picture:
        draw_picture(options.picture, sizes, options.trials, policy)
        print(f"\n{options.picture} written.")


if __name__ == "__main__":
    main()

"""How often the gate is right, and what it costs.

    python -m benchmarks.gate [--trials N] [--families 5,8] [--tables operating nulls ...]

Seeded and pure Python; drives the very procedure that the product runs. In the simulated world a family has a pass rate
p ~ Beta(4m, 4(1 - m)) before the edit, and clip(p + effect) plus a symmetric difference between families (at most .15)
after it, so that "effect 0" means no effect on average. Clipping shrinks large effects: +0.3 is really
.30 / .28 / .21 / .09 at m = .3 / .5 / .7 / .9. Every gate sees the same draws.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import fmean

from skillopt_sleep.domain.verdicts import GatePolicy
from skillopt_sleep.gate.judge import no_gain
from skillopt_sleep.gate.looks import SequentialTest
from skillopt_sleep.stats import sign_flip_p

SAMPLES = 3
RATES = (0.3, 0.5, 0.7)
HIGH_RATE = 0.9
EFFECTS = (-0.1, 0.0, 0.1, 0.2, 0.3, 0.5)
MORE_AT_NULL = 4
"""Cells whose false accepts matter get this many times the trials."""

World = list[tuple[float, float]]
Draws = list[list[tuple[float, float]]]
MakeWorld = Callable[[random.Random, int], World]


def shifted(rate: float, effect: float) -> MakeWorld:
    def make(rng: random.Random, families: int) -> World:
        world = []
        for _ in range(families):
            before = rng.betavariate(4 * rate, 4 * (1 - rate))
            after = min(1.0, max(0.0, before + effect))
            spread = min(0.15, after, 1.0 - after)
            world.append((before, after + rng.uniform(-spread, spread)))
        return world

    return make


def mixture(*parts: tuple[float, float, float]) -> MakeWorld:
    """Families of several kinds: (share, pass rate before, pass rate after)."""

    def make(rng: random.Random, families: int) -> World:
        kinds = rng.choices(parts, weights=[share for share, _, _ in parts], k=families)
        return [(before, after) for _, before, after in kinds]

    return make


ODD_NULLS: dict[str, MakeWorld] = {
    "identical, all at .5": mixture((1.0, 0.5, 0.5)),
    "half +.4, half -.4": mixture((0.5, 0.5, 0.9), (0.5, 0.5, 0.1)),
    "skewed: 80 % +.1, 20 % -.4": mixture((0.8, 0.5, 0.6), (0.2, 0.5, 0.1)),
    "badly skewed: 90 % .9 to 1, 10 % .9 to 0": mixture((0.9, 0.9, 1.0), (0.1, 0.9, 0.0)),
}


def draw(world: World, rng: random.Random) -> Draws:
    return [
        [(float(rng.random() < before), float(rng.random() < after)) for _ in range(SAMPLES)] for before, after in world
    ]


@dataclass
class Tally:
    """What the gates made of the trials of one or more cells."""

    trials: int = 0
    accepted: int = 0
    rejected: int = 0
    calls: int = 0
    fixed: int = 0
    naive: int = 0
    families: int = field(default=0, kw_only=True)

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.trials + other.trials,
            self.accepted + other.accepted,
            self.rejected + other.rejected,
            self.calls + other.calls,
            self.fixed + other.fixed,
            self.naive + other.naive,
            families=max(self.families, other.families),
        )

    def rate(self, count: int) -> float:
        return count / self.trials

    @property
    def share_of_calls(self) -> float:
        return self.calls / self.trials / (2 * self.families * SAMPLES)


@lru_cache(maxsize=200_000)
def _fixed_p(effects: tuple[float, ...]) -> float:
    return sign_flip_p(effects)


def run_gate(draws: Draws, policy: GatePolicy, seed: int) -> tuple[str, int]:
    """accept, reject or inconclusive by the sequential gate, and the calls it took."""
    test = SequentialTest([1] * len(draws), policy, seed=seed)
    calls = 0
    if not test.testable:
        return "inconclusive", 0
    while stage := test.stage:
        for family in test.families_of(stage):
            test.record(family, *draws[family][stage.sample])
            calls += 2
        test.look()
    if test.outcome == "better":
        return "accept", calls
    effects = [family.effect for family in test.families if family.pairs]
    return "reject" if test.outcome == "worse" or no_gain(effects, policy) else "inconclusive", calls


def run_cell(name: str, families: int, make: MakeWorld, trials: int, policy: GatePolicy) -> Tally:
    tally = Tally(families=families)
    for trial in range(trials):
        rng = random.Random(f"{name}/{families}/{trial}")
        draws = draw(make(rng, families), rng)
        effects = [fmean(after - before for before, after in pairs) for pairs in draws]
        decision, calls = run_gate(draws, policy, seed=rng.getrandbits(32))
        tally += Tally(
            1,
            accepted=decision == "accept",
            rejected=decision == "reject",
            calls=calls,
            fixed=_fixed_p(tuple(sorted(effects))) <= policy.alpha,
            naive=fmean(effects) > 0.0,
        )
    return tally


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
    """The main table: pass rates .3, .5 and .7 together, and .9 by itself."""
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
            (rate, effect): run_cell(
                f"{rate}/{effect}",
                size,
                shifted(rate, effect),
                trials * (MORE_AT_NULL if effect == 0.0 else 1),
                policy,
            )
            for rate in (*RATES, HIGH_RATE)
            for effect in (EFFECTS if rate != HIGH_RATE else (0.0, 0.3))
        }
        by = {effect: sum((cells[rate, effect] for rate in RATES), Tally()) for effect in EFFECTS}
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
        tallies = [run_cell(name, size, make, trials * MORE_AT_NULL, policy) for size in sizes]
        yield _row(name, *(tally.rate(tally.accepted) for tally in tallies))


def level_of_test(number: int, families: int, policy: GatePolicy) -> GatePolicy | None:
    """The policy of the j-th test on one slice: alpha/(j(j + 1)), which sums to alpha; under 8 families one test."""
    if families < 8:
        return policy if number == 1 else None
    return policy.model_copy(update={"alpha": policy.alpha / (number * (number + 1))})


def level_table(sizes: Sequence[int], trials: int, policy: GatePolicy) -> Iterator[str]:
    """What later tests on the same gate slice can still find, at the levels of `level_of_test`."""
    yield from _header("families", *(f"test {j}: finds +.3 / +.5 (rate .5), 0 to 1" for j in (1, 2, 3)))
    for size in sizes:
        cells = []
        for j in (1, 2, 3):
            at_level = level_of_test(j, size, policy)
            if at_level is None or not SequentialTest([1] * size, at_level).testable:
                cells.append("untestable")
                continue
            found = [run_cell(f"level/{e}", size, shifted(0.5, e), trials, at_level) for e in (0.3, 0.5)]
            clear = run_cell("clear", size, mixture((1.0, 0.0, 1.0)), 20, at_level)
            cells.append(f"{_shares(*(t.rate(t.accepted) for t in found))}, {clear.rate(clear.accepted):.0%}")
        yield _row(size, *cells)


def night_table(sizes: Sequence[int], trials: int, policy: GatePolicy) -> Iterator[str]:
    """Ten nights on the same families, an idle edit each: how often anything at all is adopted."""
    yield from _header("families", "naive", "gate, alpha every night", "gate, at the falling levels")
    for size in sizes:
        adopted = [0, 0, 0]
        for trial in range(trials):
            rng = random.Random(f"nights/{size}/{trial}")
            befores = [before for before, _ in shifted(0.5, 0.0)(rng, size)]
            nights = [draw([(p, p) for p in befores], rng) for _ in range(10)]
            falling = [level_of_test(j, size, policy) for j in range(1, 11)]
            seeds = [rng.getrandbits(32) for _ in nights]
            adopted[0] += any(fmean(a - b for pairs in night for b, a in pairs) > 0.0 for night in nights)
            adopted[1] += any(run_gate(n, policy, s)[0] == "accept" for n, s in zip(nights, seeds, strict=True))
            adopted[2] += any(
                level is not None and run_gate(n, level, s)[0] == "accept"
                for n, s, level in zip(nights, seeds, falling, strict=True)
            )
        yield _row(size, *(count / trials for count in adopted))


Table = Callable[[Sequence[int], int, GatePolicy], Iterator[str]]
TABLES: dict[str, Table] = {
    "operating": operating_table,
    "clear": clear_table,
    "nulls": null_table,
    "levels": level_table,
    "nights": night_table,
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Measure the gate on simulated families.")
    parser.add_argument("--trials", type=int, default=200, help="trials of each cell (default 200)")
    parser.add_argument("--families", default="5,8,12,20,40", help="numbers of families, comma-separated")
    parser.add_argument("--tables", nargs="*", choices=list(TABLES), default=list(TABLES), help="which tables")
    options = parser.parse_args(arguments)
    sizes = [int(size) for size in options.families.split(",")]
    policy = GatePolicy(samples=SAMPLES)
    worst = math.sqrt(0.05 * 0.95 / (options.trials * MORE_AT_NULL))
    print(f"alpha {policy.alpha}, {SAMPLES} samples, pass/fail scores; {options.trials} trials a cell, where nothing")
    print(
        f"should be accepted {options.trials * MORE_AT_NULL} (standard error of a 5 % share in one cell: {worst:.4f})."
    )
    for name in options.tables:
        started = time.perf_counter()
        table = TABLES[name]
        print(f"\n### {name}\n\n{(table.__doc__ or '').strip()}", flush=True)
        for line in table(sizes, options.trials, policy):
            print(line, flush=True)
        print(f"\n({time.perf_counter() - started:.0f} s)", flush=True)


if __name__ == "__main__":
    main()

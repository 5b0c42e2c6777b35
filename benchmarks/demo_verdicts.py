"""How often each skill of the demo gets the verdict it was made for.

    python -m benchmarks.demo_verdicts [SEEDS]

Runs the demo's own night for seeds 0, 1, 2, ... Everything rests on the simulated model.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from skillopt_sleep.domain.events import Event
from skillopt_sleep.experiments.demo import demo


def ignore(_: Event) -> None:
    """Only the verdicts are of interest here."""


def main(seeds: int) -> None:
    verdicts: dict[str, Counter[str]] = defaultdict(Counter)
    sealed: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for seed in range(seeds):
        with tempfile.TemporaryDirectory() as folder:
            report = demo(seed=seed, folder=Path(folder) / "demo", events=ignore).night.report
        for result in report.skills:
            said = (
                f"{result.verdict.decision} ({result.verdict.reason})" if result.verdict else f"none: {result.stopped}"
            )
            verdicts[result.skill][said] += 1
            if result.test and result.test.before is not None and result.test.after is not None:
                sealed[result.skill].append((result.test.before, result.test.after))
    print(f"SIMULATED model, seeds 0-{seeds - 1}")
    for skill, counts in sorted(verdicts.items()):
        before = sum(b for b, _ in sealed[skill]) / max(1, len(sealed[skill]))
        after = sum(a for _, a in sealed[skill]) / max(1, len(sealed[skill]))
        listed = ", ".join(f"{said} {count}" for said, count in counts.most_common())
        print(f"  {skill:18} {listed}; test slice on average {before:.2f} -> {after:.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)

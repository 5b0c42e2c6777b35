"""The gbrain seeds with the simulated model: before, after, calls, tokens, wall time, and their spread.

    python -m benchmarks.gbrain --data-root DIR [--repetitions 20] [--nights 2]

Repetition r uses seed r of the simulated model. Everything rests on the simulated model.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from skillopt_sleep.experiments.run_gbrain import GbrainRequest, run_gbrain


def spread(values: list[float]) -> str:
    """Mean, and the smallest and largest value."""
    return f"{statistics.fmean(values):.2f} [{min(values):.2f}-{max(values):.2f}]"


def main(root: Path, repetitions: int, nights: int) -> None:
    print(
        f"SIMULATED model, {repetitions} repetitions, up to {nights} nights, acceptance by the experiment's own rule\n"
    )
    print("| seed | model | before | after | better | calls | tokens | wall s |")
    print("|---|---|---|---|---|---|---|---|")
    seeds = run_gbrain(GbrainRequest(data_root=str(root), nights=1)).results
    for seed in (result.seed for result in seeds):
        for model in ("weak", "mid", "strong"):
            before: list[float] = []
            after: list[float] = []
            calls: list[float] = []
            tokens: list[float] = []
            walls: list[float] = []
            for repetition in range(repetitions):
                began = time.monotonic()
                view = run_gbrain(
                    GbrainRequest(model=model, data_root=str(root), seeds=(seed,), nights=nights, seed=repetition)
                )
                walls.append(time.monotonic() - began)
                before.append(view.results[0].held_out_before)
                after.append(view.results[0].held_out_after)
                calls.append(view.calls)
                tokens.append(view.tokens)
            better = sum(1 for b, a in zip(before, after, strict=True) if a > b)
            print(
                f"| {seed} | sim:{model} | {spread(before)} | {spread(after)} | {better}/{repetitions} "
                f"| {spread(calls)} | {spread(tokens)} | {spread(walls)} |"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-root", type=Path, required=True)
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--nights", type=int, default=2)
    arguments = parser.parse_args()
    main(arguments.data_root, arguments.repetitions, arguments.nights)

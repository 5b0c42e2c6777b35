"""What transfers between simulated models, and how often a skill that adds nothing would be certified.

    python -m benchmarks.transfer [--data-root DIR] [--repeats 20] [--placebos 200]

SIMULATED throughout: these figures show that the experiment works, not what real models do. The placebo is a skill with
as much text as was learned, none of it an instruction about the tasks: a gain that is certified for it is a false one.
"""

from __future__ import annotations

import argparse
from statistics import fmean, stdev

import anyio

from skillopt_sleep.backend.registry import Options
from skillopt_sleep.backend.registry import build as build_model
from skillopt_sleep.domain.verdicts import GatePolicy
from skillopt_sleep.experiments.gbrain_bench import available_seeds, find_data_root, load_seed
from skillopt_sleep.experiments.learning import held_out_trials
from skillopt_sleep.experiments.run_transfer import TransferRequest, run_transfer
from skillopt_sleep.experiments.transferring import SeedResult
from skillopt_sleep.gate import judge_gate
from skillopt_sleep.replay import pair_up
from skillopt_sleep.stats import wilson_interval

PLACEBO = (
    "The house was built in the year of the great flood, and its stairs are of oak. The collection began with a chest "
    "of shells. Three gardeners once looked after the lime trees. The clock in the yard was a present of the town.\n"
)


def directions(root: str, repeats: int) -> None:
    seeds = tuple(available_seeds(find_data_root(root)))
    print("| source -> target | seed | baseline | transferred | direct | retention | calls source / target |")
    print("|---|---|---|---|---|---|---|")
    for source, target in (("weak", "strong"), ("strong", "weak"), ("mid", "strong"), ("strong", "mid")):
        found: dict[str, list[SeedResult]] = {seed: [] for seed in seeds}
        for number in range(repeats):
            request = TransferRequest(
                source_backend="sim",
                source_model=source,
                target_backend="sim",
                target_model=target,
                seeds=seeds,
                data_root=root,
                limit_replay=0,
                limit_holdout=0,
                seed=number,
            )
            for result in run_transfer(request).results:
                found[result.seed].append(result)
        for seed, results in found.items():
            kept = [r.retention for r in results if r.retention is not None]
            print(
                f"| {source} -> {target} | {seed} | {_spread([r.baseline_target for r in results])} "
                f"| {_spread([r.transferred for r in results])} | {_spread([r.direct_target for r in results])} "
                f"| {_spread(kept)} ({len(kept)} of {repeats}) "
                f"| {fmean(r.cost_source.calls for r in results):.0f} / "
                f"{fmean(r.cost_target.calls for r in results):.0f} |",
                flush=True,
            )


def _spread(values: list[float | None] | list[float]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "none"
    return f"{fmean(known):.2f} ± {stdev(known) if len(known) > 1 else 0.0:.2f}"


async def _certified(skill: str, root: str, seed: str, number: int) -> bool:
    model = build_model("sim:mid", Options(seed=number), trusted=True)
    _, tasks = load_seed(find_data_root(root), seed)
    before = await held_out_trials(model, skill, tasks, samples=3)
    after = await held_out_trials(model, f"{skill}\n{PLACEBO}", tasks, samples=3, arm="after")
    return judge_gate(pair_up(before, after), GatePolicy()).decision == "accept"


def placebos(count: int) -> None:
    """Skills that are half-way right, so that chance has something to play with."""
    half = "Write one page. Perhaps there should be open questions somewhere."
    for seed, hint in (("brief-writer", half), ("advisor", "If it fits, begin with a line such as Verdict: yes.")):
        skill, _ = load_seed(find_data_root("builtin"), seed)
        hits = sum(anyio.run(_certified, f"{skill}\n{hint}\n", "builtin", seed, number) for number in range(count))
        low, high = wilson_interval(hits, count)
        print(f"placebo on {seed}: certified {hits} of {count} ({low:.1%} to {high:.1%})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-root", default="builtin")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--placebos", type=int, default=200)
    given = parser.parse_args()
    print("SIMULATED models\n")
    directions(given.data_root, given.repeats)
    placebos(given.placebos)


if __name__ == "__main__":
    main()

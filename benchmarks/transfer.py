"""What transfers between simulated models, and how often a skill that adds nothing would be certified.

    python -m benchmarks.transfer [--data-root DIR] [--repeats 20] [--placebos 200]

SIMULATED throughout: these figures show that the experiment works, not what real models do. The placebo is a skill with
as much text as was learned, none of it an instruction about the tasks: a gain that is certified for it is a false one.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from statistics import fmean, stdev

from skillopt_sleep import app
from skillopt_sleep.domain.transfers import Cell, TransferReport
from skillopt_sleep.experiments.gbrain_bench import available_seeds, find_data_root, seed_folder
from skillopt_sleep.experiments.run_transfer import TransferRequest, run_transfer
from skillopt_sleep.experiments.transferring import SeedResult
from skillopt_sleep.requests import TransferRequest as TransferOptions
from skillopt_sleep.stats import wilson_interval
from skillopt_sleep.wiring import Environment

ALPHA = 0.05


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


HALF_WAY = {
    "brief-writer": 'Add a section called "Open Questions".',
    "advisor": 'End with a line such as "Verdict: yes".',
}
"""Makes the bundled seeds half-way right: a skill that always fails, or never, gives chance nothing to play with."""


def _experiment(root: Path, seed: str, number: int) -> TransferReport:
    """The product's matrix with a placebo, on a seed that is half-way right; `number` seeds the simulated models."""
    source = seed_folder(find_data_root("builtin"), seed)
    skill = root / "claude" / "skills" / seed / "SKILL.md"
    skill.parent.mkdir(parents=True)
    text = (source / "SKILL.md").read_text(encoding="utf-8")
    skill.write_text(f"{text}\n{HALF_WAY[seed]}\n", encoding="utf-8")
    tasks = []
    for name in ("benchmark", "held-out"):
        for place, line in enumerate((source / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()):
            row = json.loads(line)
            slice_ = "test" if name == "held-out" else ("train", "gate")[place % 2]
            tasks.append({"id": row["task_id"], "prompt": row["task"], "checks": row["judge"]["checks"]})
            tasks[-1]["slice"] = slice_
    (root / "tasks.json").write_text(json.dumps({"tasks": tasks}), encoding="utf-8")
    environ = {"SKILLOPT_SLEEP_HOME": str(root / "state"), "CLAUDE_CONFIG_DIR": str(root / "claude")}
    request = TransferOptions(
        skills=(seed,), tasks=str(root / "tasks.json"), deploy_on=("sim:weak", "sim:mid"), control=True, seed=number
    )
    return app.transfer(request, Environment(environ=environ, cwd=root, home=root)).report


def placebos(count: int) -> None:
    """How often the product's matrix certifies a gain of a skill text that asks for nothing."""
    for seed in HALF_WAY:
        cells: list[Cell] = []
        false = harms = 0
        before: list[float | None] = []
        for number in range(count):
            with tempfile.TemporaryDirectory() as folder:
                report = _experiment(Path(folder), seed, number)
            mine = [cell for cell in report.cells if cell.kind == "placebo"]
            before += [cell.mean for cell in report.cells if cell.kind == "original"]
            cells += mine
            false += any(cell.p_value is not None and cell.p_value <= ALPHA for cell in mine)
            harms += any(cell.harmful for cell in mine)
        low, high = wilson_interval(false, count)
        lifts = [cell.lift for cell in cells]
        apart = sum(1 for lift in lifts if lift != 0)
        print(
            f"placebo on {seed}, original {_spread(before)}, lift {_spread(lifts)} (not zero in {apart} of "
            f"{len(lifts)} cells): certified in {false} of {count} experiments (90 % interval {low:.1%} to "
            f"{high:.1%}); called harmful in {harms}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-root", default="builtin")
    parser.add_argument("--repeats", type=int, default=20, help="0 leaves the directions out")
    parser.add_argument("--placebos", type=int, default=200)
    given = parser.parse_args()
    print("SIMULATED models\n")
    if given.repeats:
        directions(given.data_root, given.repeats)
    placebos(given.placebos)


if __name__ == "__main__":
    main()

"""From trials to the matrix: lifts, intervals, corrected p-values, retention, and which model to deploy. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillopt_sleep import stats
from skillopt_sleep.domain.spending import Price
from skillopt_sleep.domain.transfers import ArmKind, Cell
from skillopt_sleep.domain.trials import Trial
from skillopt_sleep.domain.verdicts import GatePolicy
from skillopt_sleep.gate import judge_gate
from skillopt_sleep.gate.table import Table
from skillopt_sleep.replay import pair_up, summarise


@dataclass(frozen=True, slots=True)
class Arm:
    """One skill text on one deploy model, and what came of it."""

    deploy: str
    kind: ArmKind
    learned_on: str | None = None
    trials: tuple[Trial, ...] = ()
    error: str | None = None


def cells(
    arms: Sequence[Arm],
    policy: GatePolicy,
    prices: Mapping[str, Price | None],
    *,
    exploratory: bool,
    shape_only: bool = False,
) -> tuple[Cell, ...]:
    """The matrix, in the order of the arms. A cell whose baseline is missing has a mean and no lift.

    No p stands in an exploratory experiment, where only checks of form that a model wrote judged (`shape_only`), and
    where more pairs are without two scores than the policy tolerates.
    """
    originals = {arm.deploy: arm.trials for arm in arms if arm.kind == "original"}
    found = [_cell(arm, originals.get(arm.deploy, ()), policy, prices.get(arm.deploy)) for arm in arms]
    tested = [n for n, cell in enumerate(found) if cell.kind in ("learned", "placebo") and cell.p_value is not None]
    corrected = stats.holm([found[n].p_value or 0.0 for n in tested])
    for n, p in zip(tested, corrected, strict=True):
        found[n] = found[n].model_copy(update={"p_value": None if exploratory or shape_only else p})
    for n, cell in enumerate(found):
        if cell.kind not in ("learned", "placebo"):  # "no skill" is there to be seen, not to be tested
            found[n] = cell.model_copy(update={"p_value": None})
    direct = {cell.deploy: cell.lift for cell in found if cell.direct}
    return tuple(_with_retention(cell, direct.get(cell.deploy)) for cell in found)


def _cell(arm: Arm, original: tuple[Trial, ...], policy: GatePolicy, price: Price | None) -> Cell:
    cell = Cell(deploy=arm.deploy, kind=arm.kind, learned_on=arm.learned_on, error=arm.error)
    means = summarise(arm.trials)
    if means is None:
        return cell.model_copy(update={"error": arm.error or why_unscored(arm.trials)})
    marks = [trial.mark for trial in arm.trials if trial.mark is not None]
    solved = sum(1 for mark in marks if mark.hard == 1)
    update: dict[str, object] = {"mean": means[0], "solved": solved, "attempts": len(marks)}
    if price is not None and solved:
        usages = [trial.attempt.usage for trial in arm.trials if trial.attempt is not None]
        update["usd_per_solved"] = sum(price.cost(usage) for usage in usages) / solved
    if original and arm.kind != "original":
        verdict = judge_gate(pair_up(original, arm.trials), policy)
        interval = verdict.interval
        update |= {
            "lift": verdict.effect,
            "interval": interval,
            "p_value": None if verdict.reason == "too_many_missing" else verdict.p_value,
            "missing_pairs": verdict.missing_pairs,
            "harmful": interval is not None and interval[1] < 0.0,
        }
    return cell.model_copy(update=update)


def _with_retention(cell: Cell, direct: float | None) -> Cell:
    if cell.kind != "learned" or cell.direct or cell.lift is None or direct is None or direct <= 0.0:
        return cell
    return cell.model_copy(update={"retention": cell.lift / direct})


def why_unscored(trials: Sequence[Trial]) -> str:
    """Why none of these attempts has a score: the first reason that was given."""
    reasons = (trial.error or (trial.score.abstained if trial.score else None) for trial in trials)
    first = next((reason.rstrip(".") for reason in reasons if reason), None)
    return "no attempt could be scored" + (f" (the first: {first})" if first else "")


def recommendation(
    arms: Sequence[Arm],
    found: Sequence[Cell],
    prices: Mapping[str, Price | None],
    policy: GatePolicy,
    margin: float,
    *,
    shape_only: bool = False,
) -> str:
    """The cheapest model that, with a learned skill, is not worse than the dearest with the original: in one sentence.

    "Not worse" needs the lower end of the interval of the paired difference to lie above -margin. It is asked of every
    learned version on every cheaper model, so that each interval is as wide as makes all of them hold together nine
    times in ten (Bonferroni): the best of many versions is not believed for being the best.
    """
    ordered = _by_price(list(dict.fromkeys(arm.deploy for arm in arms)), prices)
    dearest = ordered[-1] if ordered else ""
    yardstick = next((arm.trials for arm in arms if arm.deploy == dearest and arm.kind == "original"), ())
    if why := _why_no_choice(ordered, yardstick, shape_only=shape_only):
        return f"Cannot tell: {why}."
    asked = sum(1 for arm in arms if arm.kind == "learned" and arm.deploy != dearest)
    undecided = False
    for deploy in ordered[:-1]:
        versions = [arm for arm in arms if arm.deploy == deploy and arm.kind == "learned"]
        for arm in sorted(versions, key=lambda arm: _mean(found, arm), reverse=True):
            table = Table.of(pair_up(yardstick, arm.trials), policy)
            if not table.effects or table.missing_share > policy.max_unscored:
                undecided = True
                continue
            low, high = stats.sign_flip_interval(table.effects, confidence=1.0 - 0.1 / asked)
            if low >= -margin:
                learned = "learned on itself" if arm.learned_on == deploy else f"learned on {arm.learned_on}"
                return (
                    f"Deploy {deploy} with the skill {learned}: it is not worse than {dearest} with the original skill "
                    f"by more than {margin * 100:.0f} points (difference {low * 100:+.0f} to {high * 100:+.0f} points; "
                    f"the interval holds for all {asked} versions together, nine times in ten)."
                )
            undecided = undecided or high >= -margin
    if undecided:
        return (
            f"Cannot tell whether a cheaper model with a learned skill keeps up with {dearest} with the original skill "
            f"within {margin * 100:.0f} points: more test tasks would be needed."
        )
    return f"None: no cheaper model with a learned skill keeps up with {dearest} with the original skill."


def _why_no_choice(ordered: Sequence[str], yardstick: Sequence[Trial], *, shape_only: bool) -> str | None:
    """Why no figures could tell which model to deploy; None if they can."""
    if shape_only:
        return "only checks of form that a model wrote judged these tasks, and a gain in form is no gain"
    if not ordered:
        return "a price is not known, so it is not known which model is the cheapest"
    if summarise(yardstick) is None:
        return f"the original skill could not be measured on {ordered[-1]}, the dearest model"
    if len(ordered) < 2:
        return "there is only one deploy model, so there is nothing to choose between"
    return None


def _mean(found: Sequence[Cell], arm: Arm) -> float:
    means = [
        cell.mean
        for cell in found
        if (cell.deploy, cell.kind, cell.learned_on) == (arm.deploy, arm.kind, arm.learned_on) and cell.mean is not None
    ]
    return means[0] if means else -1.0


def _by_price(models: Sequence[str], prices: Mapping[str, Price | None]) -> list[str]:
    """Cheapest first; models of one price in the order given. Empty where a price is not known."""
    known = [(model, prices.get(model)) for model in models]
    if any(price is None for _, price in known):
        return []
    return [
        model for model, _ in sorted(known, key=lambda pair: (pair[1].output, pair[1].input) if pair[1] else (0, 0))
    ]

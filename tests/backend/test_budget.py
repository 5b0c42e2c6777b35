from __future__ import annotations

import random

import anyio
import pytest

from skillopt_sleep.backend.budget import Budget
from skillopt_sleep.backend.metered import Metered
from skillopt_sleep.domain.errors import BudgetExhausted, ModelAuthError, ModelError, ModelUnavailable
from skillopt_sleep.domain.llm import Role, prompt_tokens
from skillopt_sleep.domain.ports import Model
from skillopt_sleep.domain.reports import RoleSpend
from tests.backend.fakes import Turnstile, ask


def run_parallel(model: Model, workers: int, *, max_tokens: int = 100) -> tuple[int, int]:
    """How many of the calls were made well, and how many were refused by the budget."""
    ended = {"ok": 0, "refused": 0, "failed": 0}

    async def worker(number: int) -> None:
        try:
            await model.generate(ask(str(number), max_tokens=max_tokens))
        except BudgetExhausted:
            ended["refused"] += 1
        except ModelError:
            ended["failed"] += 1
        else:
            ended["ok"] += 1

    async def main() -> None:
        with anyio.fail_after(10):
            async with anyio.create_task_group() as group:
                for number in range(workers):
                    group.start_soon(worker, number)

    anyio.run(main)
    return ended["ok"], ended["refused"]


def test_sixteen_workers_and_a_cap_of_three_make_exactly_three_calls() -> None:
    inner = Turnstile()
    budget = Budget(max_calls=3)
    assert run_parallel(Metered(inner, budget), 16) == (3, 13)
    assert inner.calls == 3
    assert budget.calls == 3


def test_the_refusal_names_the_cap_and_the_option() -> None:
    metered = Metered(Turnstile(), Budget(max_calls=0))
    with pytest.raises(BudgetExhausted, match=r"cap of 0 calls.*--max-calls"):
        anyio.run(metered.generate, ask())
    metered = Metered(Turnstile(), Budget(max_tokens=50))
    with pytest.raises(BudgetExhausted, match=r"cap of 50 tokens.*--max-tokens"):
        anyio.run(metered.generate, ask())


def test_a_failed_call_counts_as_a_call_and_as_its_whole_reservation() -> None:
    budget = Budget(max_calls=3)
    metered = Metered(Turnstile(lambda _n: ModelUnavailable("down", retry="transient")), budget)
    assert run_parallel(metered, 5) == (0, 2)
    reserved = 3 * (prompt_tokens(ask("0")) + 100)
    assert budget.spend() == (RoleSpend(role="target", model="turnstile", calls=3, failed=3, tokens=reserved),)


@pytest.mark.parametrize(
    "refusal", [ModelAuthError("who are you"), ModelUnavailable("slow down", retry="rate_limit", retry_after=1.0)]
)
def test_a_service_that_refuses_to_begin_costs_no_tokens(refusal: ModelError) -> None:
    budget = Budget()
    run_parallel(Metered(Turnstile(lambda _n: refusal), budget), 2)
    assert (budget.calls, budget.tokens) == (2, 0)


def test_workers_wait_for_reserved_tokens_that_come_back_instead_of_giving_up() -> None:
    # Each call reserves more than 100 tokens and uses 10: one at a time they all fit under the cap.
    inner = Turnstile(lambda _n: 10)
    budget = Budget(max_tokens=200)
    assert run_parallel(Metered(inner, budget), 8) == (8, 0)
    assert budget.tokens == 80
    assert inner.most_running == 1


def test_spend_is_kept_by_role() -> None:
    budget = Budget()
    metered = Metered(Turnstile(), budget)
    roles: tuple[Role, ...] = ("target", "optimizer", "target")
    for role in roles:
        anyio.run(metered.generate, ask(role=role))
    assert {(spend.role, spend.calls, spend.tokens) for spend in budget.spend()} == {
        ("target", 2, 20),
        ("optimizer", 1, 10),
    }


def test_a_cancelled_call_may_have_been_paid() -> None:
    budget = Budget()

    async def cancel() -> None:
        with anyio.move_on_after(0):
            await Metered(Turnstile(steps=1000), budget).generate(ask())

    anyio.run(cancel)
    assert budget.spend()[0].failed == 1
    assert budget.tokens > 100


def test_a_service_that_reports_no_usage_has_not_worked_for_nothing() -> None:
    budget = Budget()
    anyio.run(Metered(Turnstile(lambda _n: 0), budget).generate, ask())
    assert budget.tokens > 0


def test_no_cap_is_ever_passed_over_many_random_parallel_runs() -> None:
    chance = random.Random(20)
    overshoots = 0
    for _ in range(150):
        cap = chance.randrange(0, 12)
        failing = chance.random()

        def outcome(_n: int, failing: float = failing) -> int | ModelError:
            return ModelUnavailable("down") if chance.random() < failing else chance.randrange(1, 60)

        token_cap = chance.choice([None, chance.randrange(0, 1500)])
        inner = Turnstile(outcome, steps=chance.randrange(0, 4))
        budget = Budget(max_calls=cap, max_tokens=token_cap)
        run_parallel(Metered(inner, budget), chance.randrange(1, 17), max_tokens=chance.randrange(50, 200))
        overshoots += inner.calls > cap or (token_cap is not None and budget.tokens > token_cap)
    assert overshoots == 0

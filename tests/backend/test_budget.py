from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest

from benchmarks.caps import Chance, run_parallel
from skillopt_sleep.backend.budget import Budget
from skillopt_sleep.backend.metered import Metered
from skillopt_sleep.domain.errors import BudgetExhausted, ModelAuthError, ModelError, ModelUnavailable, StateError
from skillopt_sleep.domain.llm import Role, most_prompt_tokens
from skillopt_sleep.domain.reports import RoleSpend
from skillopt_sleep.domain.spending import Amount, Caps
from skillopt_sleep.store import SpendFile, StateHome
from tests.backend.fakes import Turnstile, ask


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
    reserved = 3 * (most_prompt_tokens(ask("0")) + 100)
    assert budget.spend() == (
        RoleSpend(role="target", model="turnstile", calls=3, failed=3, unsettled_tokens=reserved),
    )
    assert budget.tokens == reserved


@pytest.mark.parametrize(
    "refusal", [ModelAuthError("who are you"), ModelUnavailable("slow down", retry="rate_limit", retry_after=1.0)]
)
def test_a_service_that_refuses_to_begin_costs_no_tokens(refusal: ModelError) -> None:
    budget = Budget()
    run_parallel(Metered(Turnstile(lambda _n: refusal), budget), 2)
    assert (budget.calls, budget.tokens) == (2, 0)


def test_workers_wait_for_reserved_tokens_that_come_back_instead_of_giving_up() -> None:
    # Each call reserves more than 200 tokens and uses 10: one at a time they all fit under the cap.
    inner = Turnstile(lambda _n: 10)
    budget = Budget(max_tokens=400)
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


def test_no_cap_of_the_run_or_the_day_is_ever_passed_over_many_random_parallel_runs(tmp_path: Path) -> None:
    played = [Chance(seed).play(tmp_path / str(seed)) for seed in range(150)]
    assert sum(passed for passed, _ in played) == 0
    assert sum(total.calls for _, total in played) > 200
    assert any(total.usd > 0.001 for _, total in played)


def test_two_runs_of_a_day_share_its_cap(tmp_path: Path) -> None:
    def a_run(name: str) -> tuple[int, int]:
        book = StateHome(tmp_path).spend(name, Caps(calls=5), lambda: datetime(2026, 1, 1, tzinfo=UTC))
        done = run_parallel(Metered(Turnstile(), Budget(book=book)), 4)
        book.close()
        return done

    assert a_run("first") == (4, 0)
    assert a_run("second") == (1, 3)


def test_a_new_day_has_its_own_cap_and_a_resumed_run_knows_what_it_spent(tmp_path: Path) -> None:
    def book(day: int) -> SpendFile:
        return StateHome(tmp_path).spend("night", Caps(calls=2), lambda: datetime(2026, 1, day, tzinfo=UTC))

    assert run_parallel(Metered(Turnstile(), Budget(book=book(1))), 3) == (2, 1)
    again = book(2)
    budget = Budget(max_calls=3, book=again, already=again.spent())
    assert run_parallel(Metered(Turnstile(), budget), 3) == (1, 2)
    assert (budget.calls, budget.tokens) == (3, 30)


def test_what_a_dead_process_had_reserved_stays_counted(tmp_path: Path) -> None:
    def book() -> SpendFile:
        return StateHome(tmp_path).spend("night", Caps(tokens=1000), lambda: datetime(2026, 1, 1, tzinfo=UTC))

    assert book().hold("target", "m", Amount(1, 900, 0.5)) is None  # and then the process was killed
    assert book().today() == Amount(1, 900, 0.5)
    assert book().hold("target", "m", Amount(1, 101, 0.0)) == "tokens"


def test_an_account_that_cannot_be_kept_stops_the_spending(tmp_path: Path) -> None:
    (tmp_path / "spend.sqlite3").write_bytes(b"no database at all" * 100)
    book = StateHome(tmp_path).spend("night", Caps(), lambda: datetime(2026, 1, 1, tzinfo=UTC))
    inner = Turnstile()
    with pytest.raises(StateError, match=r"spend\.sqlite3"):
        anyio.run(Metered(inner, Budget(book=book)).generate, ask())
    assert inner.calls == 0

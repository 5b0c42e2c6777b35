from __future__ import annotations

import pytest

from skillopt_sleep.domain.errors import InputError
from skillopt_sleep.domain.llm import Usage
from skillopt_sleep.domain.spending import Price
from skillopt_sleep.pricing import price_list

MILLION = 1_000_000


def test_a_model_is_found_by_its_id_its_name_and_its_name_without_a_date() -> None:
    prices = price_list()
    wanted = prices.named("anthropic:claude-haiku-4-5")
    assert wanted == Price(input=1.0, output=5.0, cache_read=0.1, cache_write=1.25)
    assert prices.named("claude:claude-haiku-4-5-20251001") == wanted


def test_an_unknown_price_is_unknown_and_a_simulated_model_is_free() -> None:
    prices = price_list()
    assert prices.named("openai:whatever") is None
    free = prices.named("sim:strong")
    assert free is not None
    assert free.most(MILLION, MILLION) == 0.0


def test_a_persons_own_price_goes_before_the_built_in_one() -> None:
    prices = price_list(b'[models]\nclaude-haiku-4-5 = [7.0, 8.0]\n"openai:local" = [0.0, 0.0]\n')
    mine, local = prices.named("anthropic:claude-haiku-4-5"), prices.named("openai:local")
    assert mine == Price(input=7.0, output=8.0)
    assert local == Price(input=0.0, output=0.0)


def test_cached_input_is_priced_as_what_it_is_and_the_bound_covers_it() -> None:
    price = Price(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)
    usage = Usage(
        input_tokens=MILLION, cache_read_tokens=MILLION // 2, cache_write_tokens=MILLION // 4, output_tokens=0
    )
    assert price.cost(usage) == pytest.approx(0.75 + 0.15 + 0.9375)
    assert price.most(MILLION, 0) == pytest.approx(3.75)


def test_a_long_prompt_costs_its_own_rate() -> None:
    price = price_list().named("anthropic:claude-haiku-5-5")
    assert price is not None
    assert price.cost(Usage(input_tokens=100_000)) == pytest.approx(0.01)
    assert price.cost(Usage(input_tokens=200_000)) == pytest.approx(0.10)


def test_a_client_that_names_its_price_is_believed() -> None:
    assert Price(input=3.0, output=15.0).cost(Usage(input_tokens=10, usd=0.25)) == 0.25


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"[models]\nx = [1.0]\n", "models.x"),
        (b"[models]\nx = [1.0, -2.0]\n", "models.x"),
        (b"[models]\nx = [nan, 2.0]\n", "models.x"),
        (b"[modells]\nx = [1.0, 2.0]\n", "modells"),
        (b"not toml", "not valid TOML"),
        (b"\xff\xfe", "not valid TOML"),
    ],
)
def test_prices_that_cannot_be_read_are_an_error_that_names_the_place(text: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        price_list(text, where="/home/me/prices.toml")


def test_a_service_on_this_machine_costs_nothing_unless_its_person_says_so() -> None:
    from skillopt_sleep.backend.registry import Options, build

    local = build("openai:qwen", Options(openai_url="http://127.0.0.1:8080/v1"))
    paid = build("openai:qwen", Options(openai_url="https://api.example.com/v1"))
    assert price_list().of(local) == Price(input=0.0, output=0.0)
    assert price_list().of(paid) is None
    own = price_list(b'[models]\n"openai:qwen" = [1.0, 2.0]\n')
    assert own.of(local) == own.of(paid) == Price(input=1.0, output=2.0)

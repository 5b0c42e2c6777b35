from __future__ import annotations

import anyio
import pytest

from skillopt_sleep.backend.cached import Cached, MemoryCache, cache_key
from skillopt_sleep.domain.errors import ModelError, ModelUnavailable
from skillopt_sleep.domain.llm import Prompt, Reply
from skillopt_sleep.domain.skills import EditList
from tests.backend.fakes import Turnstile, ask


def ask_together(model: Cached, prompts: list[Prompt]) -> list[Reply | ModelError]:
    replies: list[Reply | ModelError] = []

    async def one(prompt: Prompt) -> None:
        try:
            replies.append(await model.generate(prompt))
        except ModelError as error:
            replies.append(error)

    async def main() -> None:
        with anyio.fail_after(10):
            async with anyio.create_task_group() as group:
                for prompt in prompts:
                    group.start_soon(one, prompt)

    anyio.run(main)
    return replies


def test_the_same_prompt_is_asked_once() -> None:
    inner = Turnstile()
    hits: list[Prompt] = []
    cached = Cached(inner, MemoryCache(), on_hit=hits.append)
    first = anyio.run(cached.generate, ask())
    assert anyio.run(cached.generate, ask()) == first
    assert inner.calls == 1
    assert hits == [ask()]


def test_another_sample_is_another_question() -> None:
    inner = Turnstile()
    cached = Cached(inner, MemoryCache())
    for sample in (0, 1, 2, 0):
        anyio.run(cached.generate, ask(sample=sample))
    assert inner.calls == 3


def test_identical_prompts_at_the_same_time_make_one_call() -> None:
    inner = Turnstile()
    replies = ask_together(Cached(inner, MemoryCache()), [ask()] * 6 + [ask("Other?")] * 2)
    assert inner.calls == 2
    assert len(replies) == 8


def test_a_failure_is_never_remembered() -> None:
    inner = Turnstile(lambda n: ModelUnavailable("down") if n == 1 else 5)
    cached = Cached(inner, MemoryCache())
    with pytest.raises(ModelUnavailable):
        anyio.run(cached.generate, ask())
    assert anyio.run(cached.generate, ask()).text == "ok"


def test_who_waited_for_a_call_that_failed_asks_again() -> None:
    inner = Turnstile(lambda n: ModelUnavailable("down") if n == 1 else 5)
    replies = ask_together(Cached(inner, MemoryCache()), [ask()] * 4)
    assert sum(isinstance(reply, ModelUnavailable) for reply in replies) == 1
    assert sum(isinstance(reply, Reply) for reply in replies) == 3
    assert inner.calls == 2


def test_who_waited_for_a_cancelled_call_asks_again() -> None:
    inner = Turnstile(steps=50)
    cached = Cached(inner, MemoryCache())
    texts: list[str] = []

    async def main() -> None:
        async def follower() -> None:
            texts.append((await cached.generate(ask())).text)

        with anyio.fail_after(10):
            async with anyio.create_task_group() as group:
                with anyio.move_on_after(0):
                    group.start_soon(follower)
                    await cached.generate(ask())

    anyio.run(main)
    assert texts == ["ok"]


def test_everything_a_reply_depends_on_is_in_the_key() -> None:
    base = ask()
    keys = [
        cache_key("a", base, None),
        cache_key("b", base, None),
        cache_key("a", base, EditList),
        cache_key("a", base, None, "seed 1"),
        cache_key("a", ask(sample=1), None),
        cache_key("a", ask(role="judge"), None),
        cache_key("a", ask("Hello"), None),
        cache_key("a", ask(max_tokens=99), None),
        cache_key("a", base.model_copy(update={"template": "target@2"}), None),
        cache_key("a", base.model_copy(update={"system": "x"}), None),
    ]
    assert len(set(keys)) == len(keys)
    assert cache_key("a", ask(), None) == keys[0]

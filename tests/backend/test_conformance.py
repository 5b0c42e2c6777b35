"""Every model and every wrapper keeps to the Model contract."""

from __future__ import annotations

import anyio

from skillopt_sleep.backend import get_backend
from skillopt_sleep.backend.budget import Budget
from skillopt_sleep.backend.cached import Cached, MemoryCache
from skillopt_sleep.backend.limited import Limited
from skillopt_sleep.backend.metered import Metered
from skillopt_sleep.backend.recorded import Recorded
from skillopt_sleep.backend.redacted import Masking, Redacted
from skillopt_sleep.backend.retrying import Retrying, RetryPolicy
from skillopt_sleep.backend.scripted import ScriptedModel
from skillopt_sleep.backend.sim import SimModel
from skillopt_sleep.backend.stack import compose
from skillopt_sleep.backend.template import TemplateModel
from skillopt_sleep.domain.llm import Prompt
from skillopt_sleep.domain.ports import Model
from skillopt_sleep.redact import redact
from tests.conformance.model import ModelConformance


class TestWeakSim(ModelConformance):
    def make(self) -> Model:
        return SimModel("weak")


class TestStrongSim(ModelConformance):
    def make(self) -> Model:
        return SimModel("strong", seed=5)


class TestTemplate(ModelConformance):
    answers_requests = False

    def make(self) -> Model:
        return TemplateModel()


class TestScripted(ModelConformance):
    def make(self) -> Model:
        def line(prompt: Prompt) -> str:
            return '{"edits": []}' if prompt.role == "optimizer" else f"{prompt.messages[0].text} {prompt.sample}"

        return ScriptedModel(line)


class TestCached(ModelConformance):
    def make(self) -> Model:
        return Cached(SimModel("mid"), MemoryCache())


class TestMetered(ModelConformance):
    def make(self) -> Model:
        return Metered(SimModel("mid"), Budget(max_calls=50, max_tokens=500_000))


class TestLimited(ModelConformance):
    def make(self) -> Model:
        return Limited(SimModel("mid"), anyio.CapacityLimiter(2))


class TestRecorded(ModelConformance):
    def make(self) -> Model:
        return Recorded(SimModel("mid"), lambda _event: None)


class TestRedacted(ModelConformance):
    def make(self) -> Model:
        return Redacted(SimModel("mid"), Masking(redact))


class TestRetrying(ModelConformance):
    def make(self) -> Model:
        return Retrying(SimModel("mid"), RetryPolicy())


class TestWholeStack(ModelConformance):
    def make(self) -> Model:
        return compose(
            SimModel("mid"),
            budget=Budget(max_calls=50),
            limiter=anyio.CapacityLimiter(2),
            events=lambda _event: None,
            cache=MemoryCache(),
            masking=Masking(redact),
        )


class TestFrontDoor(ModelConformance):
    def make(self) -> Model:
        return get_backend("sim", "strong").model

"""The HTTP backends keep to the Model contract, against a service that speaks their protocol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import pytest

from skillopt_sleep.domain.ports import Model
from tests.backend.services import Protocol, model_at
from tests.conformance.model import ModelConformance
from tests.loopback.server import Loopback
from tests.loopback.wire import Answer, Asked, Say


def obliging(asked: Asked) -> Answer:
    """Edits where they are asked for, a call where a tool is offered, else an echo with the seed it was given."""
    if asked.schema is not None:
        return Say(text='{"edits": []}')
    if asked.tools:
        return Say(tools=((asked.tools[0], {"query": "tides"}),))
    return Say(text=f"{asked.last} {asked.body.get('seed', '')}")


class _Http(ModelConformance):
    protocol: ClassVar[Protocol]

    @pytest.fixture(autouse=True)
    def _service(self) -> Iterator[None]:
        with Loopback(obliging) as service:
            self.url = service.url
            yield

    def make(self) -> Model:
        return model_at(self.url, self.protocol)


class TestAnthropic(_Http):
    protocol = "anthropic"
    samples_differ = False


class TestOpenAICompatible(_Http):
    protocol = "openai"

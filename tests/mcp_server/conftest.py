from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.jobs.office import ASLEEP, Office

ERAS = ("2026-07-28", "legacy")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """Both eras of the protocol: the questions of one travel in results, those of the other in calls of the server."""
    return str(request.param)


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    office = Office(tmp_path)
    yield office
    office.end_all()


@pytest.fixture
def sleepers(office: Office) -> Office:
    office.model = ASLEEP
    return office

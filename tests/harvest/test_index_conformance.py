from __future__ import annotations

from pathlib import Path

import pytest

from skillopt_sleep.domain.ports import SessionIndex
from skillopt_sleep.store import StateHome
from tests.conformance.session_index import SessionIndexSuite
from tests.harvest.fakes import MemoryIndex


class TestTranscriptIndex(SessionIndexSuite):
    @pytest.fixture
    def index(self, tmp_path: Path) -> SessionIndex:
        return StateHome(tmp_path / "state").transcripts()

    def test_looking_creates_nothing(self, index: SessionIndex, tmp_path: Path) -> None:
        self.test_an_empty_index_knows_nothing(index)
        assert not (tmp_path / "state").exists()


class TestMemoryIndex(SessionIndexSuite):
    @pytest.fixture
    def index(self, tmp_path: Path) -> SessionIndex:
        return MemoryIndex()

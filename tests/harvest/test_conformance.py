from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from skillopt_sleep.domain.ports import EventSink, SessionIndex, TranscriptSource
from skillopt_sleep.harvest.claude_code import ClaudeCodeSource
from skillopt_sleep.harvest.codex import CodexSource
from skillopt_sleep.redact import redact
from skillopt_sleep.store import StateHome
from tests.conformance.transcript_source import TranscriptSourceSuite
from tests.harvest.rollouts import Rollout
from tests.harvest.transcripts import Transcript, session_id


class WithAndWithoutIndex(TranscriptSourceSuite):
    """Every source must do the same with and without an index."""

    index: SessionIndex | None = None

    @pytest.fixture(params=["index", "no index"], autouse=True)
    def _index(self, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
        state = StateHome(tmp_path_factory.mktemp("state"))
        self.index = state.transcripts() if request.param == "index" else None


class TestClaudeCode(WithAndWithoutIndex):
    def source(self, root: Path, events: EventSink) -> TranscriptSource:
        return ClaudeCodeSource(root, redact=redact, events=events, index=self.index)

    def write(self, root: Path, number: int, *, project: str, end: datetime, prompts: list[str]) -> Path:
        transcript = Transcript(session_id(number), cwd=project, start=end - timedelta(hours=1))
        for text in prompts:
            transcript.prompt(text)
        transcript.now = end - timedelta(seconds=1)
        return transcript.reply("Done.").write(root)


class TestCodex(WithAndWithoutIndex):
    def source(self, root: Path, events: EventSink) -> TranscriptSource:
        return CodexSource(root, redact=redact, events=events, index=self.index)

    def write(self, root: Path, number: int, *, project: str, end: datetime, prompts: list[str]) -> Path:
        rollout = Rollout(session_id(number), cwd=project, start=end - timedelta(hours=1)).begin()
        for text in prompts:
            rollout.prompt(text)
        rollout.now = end - timedelta(seconds=1)
        return rollout.reply("Done.").write(root)

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from skillopt_sleep.domain.ports import EventSink, TranscriptSource
from skillopt_sleep.harvest.claude_code import ClaudeCodeSource
from skillopt_sleep.redact import redact
from tests.conformance.transcript_source import TranscriptSourceSuite
from tests.harvest.transcripts import Transcript, session_id


class TestClaudeCode(TranscriptSourceSuite):
    def source(self, root: Path, events: EventSink) -> TranscriptSource:
        return ClaudeCodeSource(root, redact=redact, events=events)

    def write(self, root: Path, number: int, *, project: str, end: datetime, prompts: list[str]) -> Path:
        transcript = Transcript(session_id(number), cwd=project, start=end - timedelta(hours=1))
        for text in prompts:
            transcript.prompt(text)
        transcript.now = end - timedelta(seconds=1)
        return transcript.reply("Done.").write(root)

"""Writes synthetic rollouts of the shape that Codex 0.171 writes.

    Rollout(cwd="/home/ann/shop").prompt("fix the total").reply("Done.").write(root)

`root` is the client's home folder; methods return the rollout, so that calls chain.
"""

from __future__ import annotations

import json
import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

from tests.harvest.transcripts import START, session_id


class Rollout:
    def __init__(
        self,
        session: str = session_id(1),
        *,
        cwd: str = "/home/ann/shop",
        start: datetime = START,
        source: str | dict[str, Any] = "cli",
        kinds: bool = True,
    ) -> None:
        self.session, self.cwd, self.now, self.source, self.kinds = session, cwd, start, source, kinds
        self.lines: list[bytes] = []
        self._number = 0
        meta = {"id": session, "cwd": cwd, "originator": "codex", "source": source, "thread_source": "user"}
        self.row("session_meta", meta | {"base_instructions": {"text": "NOT A TURN " * 50}})
        self.message("developer", "NOT A TURN", kind="permissions.instructions")
        self.message(
            "user", f"<environment_context>\n  <cwd>{cwd}</cwd>\n</environment_context>", kind="environments.x"
        )

    def begin(self, trigger: str | None = None) -> Self:
        """A turn begins; `trigger` says who began it."""
        attribution = {} if trigger is None else {"turn_attribution": {"turn_trigger": trigger}}
        self.row("event_msg", {"type": "task_started", **attribution})
        return self.row("turn_context", {"cwd": self.cwd, "model": "m"})

    def prompt(self, text: str) -> Self:
        self.message("user", text, kind="user.text")
        item: dict[str, Any] = {"type": "UserMessage", "content": [{"type": "text", "text": "NOT A TURN"}]}
        return self.row("event_msg", {"type": "item_completed", "item": item})

    def reply(self, *texts: str, tools: tuple[str, ...] = ()) -> Self:
        for text in texts:
            self.message("assistant", text, kind="unknown")
        for tool in tools:
            call = {"type": "function_call", "id": self._id("fc"), "name": tool, "arguments": "{}", "call_id": "c1"}
            self.row("response_item", call)
            self.row("response_item", {"type": "function_call_output", "call_id": "c1", "output": "NOT A TURN"})
        return self

    def interrupt(self) -> Self:
        return self.row("event_msg", {"type": "turn_aborted", "reason": "interrupted"})

    def message(self, role: str, text: str, *, kind: str) -> Self:
        part = "output_text" if role == "assistant" else "input_text"
        item: dict[str, Any] = {
            "type": "message",
            "id": self._id("msg"),
            "role": role,
            "content": [{"type": part, "text": text}],
        }
        if self.kinds:
            item["internal_chat_message_metadata_passthrough"] = {"content_item_kinds": [kind]}
        return self.row("response_item", item)

    def row(self, kind: str, payload: dict[str, Any]) -> Self:
        self.now += timedelta(seconds=1)
        time = self.now.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        row = {"timestamp": time, "ordinal": len(self.lines), "type": kind, "payload": payload}
        self.lines.append(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        return self

    def _id(self, prefix: str) -> str:
        self._number += 1
        return f"{prefix}_{self.session}_{self._number}"

    def write(self, root: Path, *, archived: bool = False) -> Path:
        """Appends to the session's file, as the client does when a session is resumed."""
        folder = root / "archived_sessions" if archived else root / "sessions" / "2026" / "03" / "01"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"rollout-2026-03-01T09-00-00-{self.session}.jsonl"
        with path.open("ab") as stream:
            stream.writelines(self.lines)
        self.lines = []
        os.utime(path, (self.now.timestamp(), self.now.timestamp()))
        return path

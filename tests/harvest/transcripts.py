"""Writes synthetic transcripts of the shape that Claude Code 2.1 writes, so that tests can say what happened.

    Transcript(cwd="/home/ann/shop").prompt("fix the total").reply("Done.", tools=["Edit"]).write(root)

`root` is the client's configuration folder; each method returns the transcript, so that calls chain. Times begin at
`start` and move on by a second with every row. `noise=True` (the default) adds the bulky rows that the client writes
around each prompt and that say nothing about the conversation.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


class Transcript:
    def __init__(
        self,
        session: str = "00000000-0000-4000-8000-000000000001",
        *,
        cwd: str = "/home/ann/shop",
        start: datetime = START,
        entrypoint: str | None = "cli",
        noise: bool = True,
    ) -> None:
        self.session = session
        self.cwd = cwd
        self.now = start
        self.entrypoint = entrypoint
        self.noise = noise
        self.lines: list[bytes] = []
        self._ids = uuid.UUID(int=uuid.uuid5(uuid.NAMESPACE_URL, session).int).int

    # What happens in a session ---------------------------------------------------------------------------------------

    def prompt(self, text: str | list[dict[str, object]], **extra: object) -> Self:
        """A person types a prompt (or a program sends it, where the entry point is an SDK's)."""
        source = "sdk" if str(self.entrypoint).startswith("sdk") else "typed"
        self.user(text, promptSource=source, permissionMode="default", **extra)
        return self._add_noise() if self.noise else self

    def reply(
        self, *texts: str, tools: Sequence[str] = (), skill: str | None = None, thinking: str = "", message: str = ""
    ) -> Self:
        """The assistant answers: one row per content block, all with the same message id."""
        blocks: list[dict[str, object]] = [{"type": "thinking", "thinking": thinking}] if thinking else []
        blocks += [{"type": "text", "text": text} for text in texts]
        blocks += [{"type": "tool_use", "id": self._id(), "name": name, "input": {"path": "a.py"}} for name in tools]
        if skill:
            blocks.append(
                {"type": "tool_use", "id": self._id(), "name": "Skill", "input": {"skill": skill, "args": ""}}
            )
        message = message or f"msg_{self._id()}"
        for index, block in enumerate(blocks):
            content = {"id": message, "type": "message", "role": "assistant", "model": "m", "content": [block]}
            self.row("assistant", message=content, apiBlockIndex=index)
        return self

    def tool_result(self, text: str, *, error: bool = False) -> Self:
        block = {"type": "tool_result", "tool_use_id": "toolu_1", "content": text, "is_error": error}
        return self.user([block], toolUseResult=f"Error: {text}" if error else {"stdout": text, "stderr": ""})

    def command(self, name: str, args: str = "", *, body: str | None = "Follow these steps.") -> Self:
        """A slash command; `body` is the text it expands to (None for the client's own commands)."""
        if body is None:
            self.user(f"<command-name>/{name}</command-name>\n<command-message>{name}</command-message>")
            return self.user("<local-command-stdout>done</local-command-stdout>")
        self.user(
            f"<command-message>{name}</command-message>\n<command-name>/{name}</command-name>\n"
            f"<command-args>{args}</command-args>"
        )
        return self.user([{"type": "text", "text": body}], isMeta=True)

    def interrupt(self, message: str | None = None) -> Self:
        extra = {"interruptedMessageId": message} if message else {}
        return self.user([{"type": "text", "text": "[Request interrupted by user]"}], rowSource="harness", **extra)

    # Rows -------------------------------------------------------------------------------------------------------------

    def user(self, content: str | list[dict[str, object]], **extra: object) -> Self:
        return self.row("user", message={"role": "user", "content": content}, **extra)

    def row(self, kind: str, **fields: object) -> Self:
        """A row of the conversation with the fields that all of them have."""
        row: dict[str, object] = {"parentUuid": None, "isSidechain": False, "type": kind, **fields}
        row |= {"uuid": self._id(), "timestamp": self._time(), "userType": "external", "cwd": self.cwd}
        row |= {"sessionId": self.session, "version": "2.1.0"}
        if self.entrypoint is not None:
            row["entrypoint"] = self.entrypoint
        return self.raw(json.dumps(row | fields, ensure_ascii=False, separators=(",", ":")))

    def raw(self, line: str | bytes, *, newline: bool = True) -> Self:
        """A line exactly as given."""
        self.lines.append((line if isinstance(line, bytes) else line.encode()) + (b"\n" if newline else b""))
        return self

    def _add_noise(self) -> Self:
        listing = "a skill, what it does and when to use it; " * 60
        self.row(
            "attachment", attachment={"type": "skill_listing", "content": listing}, rendered=[], renderedRole="user"
        )
        blob = {"role": "user", "content": "NOT A TURN"}
        self.raw(
            json.dumps({"type": "api-request-blob", "sessionId": self.session, "message": blob}, separators=(",", ":"))
        )
        self.raw(json.dumps({"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}, separators=(",", ":")))
        return self.raw(
            json.dumps({"type": "summary", "summary": "NOT A TURN", "leafUuid": "l"}, separators=(",", ":"))
        )

    def _id(self) -> str:
        self._ids += 1
        return str(uuid.UUID(int=self._ids % 2**128))

    def _time(self) -> str:
        self.now += timedelta(seconds=1)
        return self.now.strftime("%Y-%m-%dT%H:%M:%S.000Z")

    # Files ------------------------------------------------------------------------------------------------------------

    def write(self, root: Path) -> Path:
        """Appends to the session's file under `root`, as the client does; the file was last written at the end."""
        return self.write_to(root / "projects" / re.sub(r"[^A-Za-z0-9]", "-", self.cwd) / f"{self.session}.jsonl")

    def write_to(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as stream:
            stream.writelines(self.lines)
        self.lines = []
        os.utime(path, (self.now.timestamp(), self.now.timestamp()))
        return path


def session_id(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"

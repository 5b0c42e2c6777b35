"""What the rows of a Codex rollout mean.

Observed in files of Codex 0.171: each row has a `type` and a `payload` that has a `type` of its own. `response_item`
rows carry the conversation; what a person wrote is a message of the role "user" whose parts are of a kind that begins
with "user."; the client's own words (the environment, instructions) have the same role and other kinds.
"""

from __future__ import annotations

import re
from datetime import datetime

from skillopt_sleep.harvest.conversation import Conversation, clean, time_of
from skillopt_sleep.harvest.jsonl import JsonObject

READER_VERSION = 1
"""To be raised when the same file would give another session."""

_NOISE = re.compile(
    rb'\{"timestamp":"[^"]*",(?:"ordinal":\d+,)?"type":"(?:'
    rb'event_msg","payload":\{"type":"(?!task_started"|turn_aborted")'
    rb'|response_item","payload":\{"type":"(?:reasoning|\w+_output|\w+_search_call)"'
    rb'|(?:world_state|token_usage_record|compacted)")'
)
_SKILL = re.compile(r"\s*<skill>\s*<name>\s*([\w:.-]+)\s*</name>")
_BY_THE_CLIENT = re.compile(r"\s*(?:<(?!/)[a-z]+(?:_[a-z]+)+>|<skill>|<INSTRUCTIONS>|# AGENTS\.md instructions for )")
"""Beginnings of user texts that the client wrote, where it does not name the kind of its parts (before 0.150)."""
_CALLS = {"function_call": "name", "custom_tool_call": "name", "local_shell_call": "type"}
"""Kinds of tool calls, and the field that says which tool it is."""
_PROGRAMS = frozenset({"exec", "mcp"})
"""Values of `source` and of `turn_trigger` where a program makes the requests."""


def cannot_matter(line: bytes) -> bool:
    """Whether a line surely is a whole row that says nothing about the conversation, told without parsing it."""
    return line.endswith((b"}\n", b"}\r\n")) and _NOISE.match(line) is not None


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}


class CodexRows:
    """Reads rows into a conversation."""

    def __init__(self, conversation: Conversation) -> None:
        self._to = conversation
        self._program = False
        self._message: str | None = None
        """The assistant's message that tool calls belong to."""

    def add(self, row: JsonObject) -> bool:
        """Takes one row. False where it should be part of the conversation but does not have the shape for it."""
        kind, payload = row.get("type"), row.get("payload")
        if not isinstance(kind, str):
            return False
        if kind not in ("session_meta", "turn_context", "event_msg", "response_item"):
            return True
        if not isinstance(payload, dict):
            return False
        match kind:
            case "session_meta":
                self._add_start(payload)
            case "turn_context":
                self._to.note_origin(None, payload.get("cwd"))
            case "event_msg":
                self._add_event(payload)
            case _:
                return self._add_item(payload, time_of(row.get("timestamp")))
        return True

    def _add_start(self, start: JsonObject) -> None:
        source = start.get("source")
        self._program = isinstance(source, str) and source in _PROGRAMS
        if (isinstance(source, dict) and "subagent" in source) or start.get("thread_source") == "subagent":
            self._to.refused = "subagent"
        self._to.note_origin(start.get("id"), start.get("cwd"))

    def _add_event(self, event: JsonObject) -> None:
        if event.get("type") == "turn_aborted":
            if event.get("reason", "interrupted") == "interrupted":
                self._to.interrupt()
        elif event.get("type") == "task_started":
            trigger = _object(event.get("turn_attribution")).get("turn_trigger")
            if isinstance(trigger, str):
                self._program = trigger in _PROGRAMS

    def _add_item(self, item: JsonObject, at: datetime | None) -> bool:
        kind = item.get("type")
        if kind == "message" and item.get("role") in ("user", "assistant"):
            content = item.get("content")
            if at is None or not isinstance(content, list):
                return False
            if self._to.is_new(item.get("id")):
                (self._add_user if item["role"] == "user" else self._add_assistant)(item, content, at)
        elif isinstance(kind, str) and kind in _CALLS:
            tool = item.get(_CALLS[kind])
            if at is None or not isinstance(tool, str):
                return False
            if self._to.is_new(item.get("id")):
                self._message = self._message or f"before {item.get('call_id')}"
                self._to.reply(self._message, "", at, [clean(tool)], [])
        return True

    def _add_user(self, item: JsonObject, content: list[object], at: datetime) -> None:
        kinds = _object(item.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds")
        texts: list[str] = []
        for number, part in enumerate(content):
            text = _object(part).get("text")
            if not isinstance(text, str) or not text.strip():
                continue
            if skill := _SKILL.match(text):
                self._to.load([skill[1]])
            elif isinstance(kinds, list):
                if number < len(kinds) and str(kinds[number]).startswith("user."):
                    texts.append(text)
            elif not _BY_THE_CLIENT.match(text):
                texts.append(text)
        if not texts:
            return
        if self._program:
            self._to.by_program = True
        else:
            self._to.by_person = True
        self._message = None
        self._to.prompt("\n".join(texts), at)

    def _add_assistant(self, item: JsonObject, content: list[object], at: datetime) -> None:
        texts = [text for part in content if isinstance(text := _object(part).get("text"), str) and text.strip()]
        if texts:
            self._message = str(item.get("id") or f"at {at.isoformat()}")
            self._to.reply(self._message, "\n".join(texts), at, [], [])

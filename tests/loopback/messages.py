"""The Messages API on the wire."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.loopback.wire import Asked, Fault, Say, estimate


def text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = [
        block.get("text") or text_of(block.get("content", "")) for block in content or [] if isinstance(block, dict)
    ]
    return "\n".join(part for part in parts if part)


def read(path: str, headers: Mapping[str, str], body: dict[str, Any], raw: bytes) -> Asked:
    form = (body.get("output_config") or {}).get("format") or {}
    return Asked(
        path=path,
        headers=headers,
        body=body,
        raw=raw,
        system=text_of(body.get("system") or ""),
        messages=tuple((_role(message), text_of(message["content"])) for message in body["messages"]),
        model=str(body.get("model")),
        tools=tuple(str(tool.get("name")) for tool in body.get("tools") or ()),
        schema=form.get("schema") or _asked_by_tool(body),
        max_tokens=body.get("max_tokens"),
    )


def _role(message: dict[str, Any]) -> str:
    content = message["content"]
    results = isinstance(content, list) and any(block.get("type") == "tool_result" for block in content)
    return "tool" if results else str(message["role"])


def _asked_by_tool(body: dict[str, Any]) -> dict[str, Any] | None:
    """Claude Code asks for structured output through a tool of this name."""
    for tool in body.get("tools") or ():
        if tool.get("name") == "StructuredOutput":
            schema: dict[str, Any] = tool["input_schema"]
            return schema
    return None


def _blocks(asked: Asked, say: Say) -> list[dict[str, Any]]:
    text = {"type": "text", "text": say.text}
    if say.text and "StructuredOutput" in asked.tools and asked.messages[-1][0] != "tool":
        return [
            {"type": "tool_use", "id": "toolu_structured", "name": "StructuredOutput", "input": json.loads(say.text)}
        ]
    calls = [
        {"type": "tool_use", "id": f"toolu_{len(asked.messages)}_{n}", "name": name, "input": arguments}
        for n, (name, arguments) in enumerate(say.tools)
    ]
    return [*([text] if say.text else []), *calls]


def _usage(asked: Asked, say: Say) -> dict[str, Any]:
    given = estimate(asked.raw.decode("utf-8", "replace")) if say.input_tokens is None else say.input_tokens
    return {
        "input_tokens": given,
        "output_tokens": estimate(say.text) if say.output_tokens is None else say.output_tokens,
        "cache_read_input_tokens": say.cache_read,
        "cache_creation_input_tokens": say.cache_write,
        "cache_creation": {"ephemeral_5m_input_tokens": say.cache_write, "ephemeral_1h_input_tokens": 0},
        "service_tier": "standard",
    }


def whole(asked: Asked, say: Say) -> dict[str, Any]:
    blocks = _blocks(asked, say)
    calls = any(block["type"] == "tool_use" for block in blocks)
    return {
        "id": "msg_01loopback",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": blocks,
        "stop_reason": say.stop or ("tool_use" if calls else "end_turn"),
        "stop_sequence": None,
        "usage": _usage(asked, say),
    }


def stream(asked: Asked, say: Say) -> Iterator[bytes]:
    message = whole(asked, say)
    begun = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    yield _event("message_start", {"message": begun})
    for index, block in enumerate(message["content"]):
        start: dict[str, Any]
        if block["type"] == "text":
            start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield _event("content_block_start", {"index": index, "content_block": start})
        yield _event("content_block_delta", {"index": index, "delta": delta})
        yield _event("content_block_stop", {"index": index})
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", {"delta": ended, "usage": {"output_tokens": message["usage"]["output_tokens"]}})
    yield _event("message_stop", {})


def error(fault: Fault) -> dict[str, Any]:
    return {"type": "error", "error": {"type": fault.error, "message": fault.message}, "request_id": "req_loopback"}


def error_event(fault: Fault) -> bytes:
    return _event("error", {"error": {"type": fault.error, "message": fault.message}})


def _event(name: str, data: dict[str, Any]) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **data}, ensure_ascii=False)}\n\n".encode()

"""Chat completions on the wire, as OpenAI-compatible services speak them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.loopback.messages import text_of
from tests.loopback.wire import Asked, Fault, Say, estimate


def read(path: str, headers: Mapping[str, str], body: dict[str, Any], raw: bytes) -> Asked:
    rows = [(str(message["role"]), text_of(message.get("content") or "")) for message in body["messages"]]
    form = body.get("response_format") or {}
    return Asked(
        path=path,
        headers=headers,
        body=body,
        raw=raw,
        system="\n".join(text for role, text in rows if role == "system"),
        messages=tuple(row for row in rows if row[0] != "system"),
        model=str(body.get("model")),
        tools=tuple(str(tool["function"]["name"]) for tool in body.get("tools") or ()),
        schema=(form.get("json_schema") or {}).get("schema"),
        max_tokens=body.get("max_tokens") or body.get("max_completion_tokens"),
    )


def whole(asked: Asked, say: Say) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": say.text or None}
    if say.tools:
        message["tool_calls"] = [
            {
                "id": f"call_{len(asked.messages)}_{n}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for n, (name, arguments) in enumerate(say.tools)
        ]
    given = estimate(asked.raw.decode("utf-8", "replace")) if say.input_tokens is None else say.input_tokens
    written = estimate(say.text) if say.output_tokens is None else say.output_tokens
    usage = {
        "prompt_tokens": given,
        "completion_tokens": written,
        "total_tokens": given + written,
        "prompt_tokens_details": {"cached_tokens": say.cache_read},
    }
    return {
        "id": "chatcmpl-loopback",
        "object": "chat.completion",
        "created": 0,
        "model": asked.model,
        "choices": [
            {"index": 0, "message": message, "finish_reason": say.stop or ("tool_calls" if say.tools else "stop")}
        ],
        **({"usage": usage} if say.counted else {}),
    }


def stream(asked: Asked, say: Say) -> Iterator[bytes]:
    """Nothing here asks for a stream."""
    raise NotImplementedError("chat completions are answered whole")


def error(fault: Fault) -> dict[str, Any]:
    return {"error": {"type": fault.error, "message": fault.message, "code": fault.error}}


def error_event(fault: Fault) -> bytes:
    return f"data: {json.dumps(error(fault))}\n\n".encode()

"""An agent's side of the protocol, for tests."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import mcp_types as types
from mcp import Client

from skillopt_sleep.mcp_server.server import build
from skillopt_sleep.wiring import Environment

Answer = Literal["accept", "decline", "cancel"]


@dataclass
class Agent:
    """Calls tools; `asked` keeps what its person was shown, who answers with `says`."""

    client: Client
    asked: list[str] = field(default_factory=list)

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """A structured result; fails where the answer is an error."""
        answer = await self.client.call_tool(tool, arguments)
        assert not answer.is_error, answer.content
        found: dict[str, Any] = answer.structured_content
        assert next(iter(found)) == "summary", "what is for people comes first"
        return found

    async def refused(self, tool: str, **arguments: Any) -> dict[str, str]:
        """The error of a call: code, message, hint."""
        answer = await self.client.call_tool(tool, arguments)
        assert answer.is_error, answer.structured_content
        (content,) = answer.content
        assert isinstance(content, types.TextContent)
        assert "Traceback" not in content.text
        error: dict[str, str] = json.loads(content.text)["error"]
        assert set(error) == {"code", "message", "hint"}
        return error


@asynccontextmanager
async def agent(
    environment: Environment, era: str, *, says: Answer | None = None, yes: bool = True
) -> AsyncIterator[Agent]:
    """An agent in a client of this era. With `says`, the client can ask its person."""
    asked: list[str] = []

    async def person(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        asked.append(params.message)
        assert says is not None
        return types.ElicitResult(action=says, content={"yes": yes} if says == "accept" else None)

    async with Client(build(environment), mode=era, elicitation_callback=person if says else None) as client:
        yield Agent(client, asked)

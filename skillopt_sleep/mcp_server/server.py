"""What the SDK calls. Tools are listed from a file; everything else of ours is loaded when it is first needed."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from skillopt_sleep import __version__
from skillopt_sleep.domain.errors import SleepError, UnknownName, UsageError

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from skillopt_sleep.mcp_server.tools import Tool
    from skillopt_sleep.views import View
    from skillopt_sleep.wiring import Environment

T = TypeVar("T")
Context = Any
_LOOKS_EVERY = 0.5
_TELLS_EVERY = 5.0
"""Seconds between two notes of progress while a call waits; clients give up on silent calls."""
INSTRUCTIONS = (
    "Improves this person's skills from their past sessions. Plan first, show the price, begin only after a yes, then "
    "end your turn: jobs go on alone. Adopting is the person's decision."
)


def build(environment: Environment) -> Server[Any]:
    """The server of one project, ready to be served over any transport."""
    from skillopt_sleep.mcp_server import reading

    return Server(
        "skillopt-sleep",
        version=__version__,
        title="SkillOpt-Sleep",
        instructions=INSTRUCTIONS,
        on_list_tools=_list_tools,
        on_call_tool=partial(_call_tool, environment),
        on_list_resources=partial(_guarded, reading.resources, environment),
        on_list_resource_templates=partial(_guarded, reading.templates, environment),
        on_read_resource=partial(_guarded, reading.read, environment),
        on_list_prompts=partial(_guarded, reading.prompts, environment),
        on_get_prompt=partial(_guarded, reading.prompt, environment),
    )


async def _list_tools(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    text = resources.files("skillopt_sleep.mcp_server").joinpath("tools.json").read_bytes()
    return types.ListToolsResult.model_validate_json(text)


async def _call_tool(
    environment: Environment, context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    from skillopt_sleep.mcp_server.tools import TOOLS

    tools = {tool.name: tool for tool in TOOLS}
    try:
        tool = tools.get(params.name)
        if tool is None:
            raise UnknownName("tool", params.name[:80], tools)
        return await _answer(tool, environment, context, params)
    except SleepError as error:
        return _refusal(error)


async def _answer(
    tool: Tool, environment: Environment, context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    given = _checked(tool, params.arguments or {})
    if tool.question is not None and not await _in_thread(_may_adopt, environment):
        from skillopt_sleep.mcp_server.consent import agreed

        question = await _in_thread(tool.question, given, environment)
        if (asked := await agreed(context, params, question, environment)) is not None:
            return asked
    view = await anyio.to_thread.run_sync(tool.act, given, environment, abandon_on_cancel=tool.reads_only)
    view = await _wait(view, given, environment, context)
    return _result(view, tool, given.get("offset", 0))


def _may_adopt(environment: Environment) -> bool:
    from skillopt_sleep import app

    return app.agent_may_adopt(environment)


async def _wait(
    view: View, given: dict[str, Any], environment: Environment, context: ServerRequestContext[Any, Any]
) -> View:
    """The same answer once its job has ended, or the patience that was asked for has."""
    from skillopt_sleep.mcp_server.tools import ended, refreshed

    with anyio.move_on_after(given.get("wait_seconds", 0)):
        told = float("-inf")
        while not ended(view):
            if anyio.current_time() - told >= _TELLS_EVERY:
                told = anyio.current_time()
                done, total, words = _progress(view)
                await context.session.report_progress(done, total, words)
            await anyio.sleep(_LOOKS_EVERY)
            view = await _in_thread(refreshed, view, environment)
    return view


def _progress(view: View) -> tuple[float, float | None, str]:
    from skillopt_sleep.mcp_server.tools import job_of

    job = job_of(view)
    return (0.0, None, view.summary) if job is None else (job.calls, job.expected_calls or None, job.summary)


async def _in_thread(work: Callable[..., T], *arguments: Any) -> T:
    return await anyio.to_thread.run_sync(work, *arguments, abandon_on_cancel=True)


def _checked(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments that were given, as their model has them. Raises `UsageError` in a sentence, `UnknownName`."""
    from pydantic import ValidationError

    for name in arguments:
        if name not in tool.takes.model_fields:
            raise UnknownName(f"argument of {tool.name}", name[:80], tool.takes.model_fields)
    try:
        model = tool.takes.model_validate({name: value for name, value in arguments.items() if value is not None})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the arguments"
        wanted = first["msg"].removeprefix("Input ").removeprefix("Value error, ")
        if first["type"] == "missing":
            raise UsageError(f"{tool.name} needs {where}.", hint="See the tool's input schema.") from error
        raise UsageError(f"{where} {wanted}, not {_short(first['input'])}.") from error
    return {name: getattr(model, name) for name in model.model_fields_set}


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def _result(view: View, tool: Tool, offset: int) -> types.CallToolResult:
    from skillopt_sleep.mcp_server.pages import page

    data = page(view.model_dump(mode="json"), tool.pages, offset)
    text = json.dumps(data, ensure_ascii=False)  # for clients that know no structured results
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=data)


def _refusal(error: SleepError) -> types.CallToolResult:
    """An error as every surface tells it: code, what happened, what to do."""
    said = {"error": {"code": error.code, "message": _clean(error.message), "hint": _clean(error.hint)}}
    text = json.dumps(said, ensure_ascii=False)
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


def _clean(text: str) -> str:
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= 4_000 else f"{text[:4_000]} [...]"


async def _guarded(handler: Callable[..., T], environment: Environment, _context: Context, params: Any) -> T:
    """Read in a thread; what a person can act on becomes an error of the protocol with the same words."""
    try:
        return await _in_thread(handler, environment, params)
    except SleepError as error:
        data = {"code": error.code, "hint": _clean(error.hint)}
        message = _clean(f"{error.message} {error.hint}".strip())
        raise MCPError(code=types.INVALID_PARAMS, message=message, data=data) from error

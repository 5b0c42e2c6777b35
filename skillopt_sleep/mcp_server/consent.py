"""Asking the person before a live file changes.

Up to protocol 2025-11-25 the server asks in the middle of the call. Since 2026-07-28 there is no such way back: the
call is answered with the question, and the client calls again with the person's answer. Where a client cannot ask, or
the person does not say yes, nothing changes, and the answer names the terminal command.
"""

from __future__ import annotations

import shlex
import shutil
import sys
from typing import TYPE_CHECKING, Any

import mcp_types as types

from skillopt_sleep.domain.base import sha256_hex
from skillopt_sleep.domain.errors import SleepError
from skillopt_sleep.mcp_server.tools import Question

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from skillopt_sleep.wiring import Environment

ANSWERED_IN_A_NEW_CALL = "2026-07-28"
"""First protocol whose questions travel in results. Versions are dates, and compare as texts."""
_KEY = "person"
_LONGEST = 6_000


class NeedsPerson(SleepError):
    """Only a person may do this, and no person has said yes."""

    code = "needs_person"
    exit_code = 4


async def agreed(
    context: ServerRequestContext[Any, Any],
    params: types.CallToolRequestParams,
    question: Question,
    environment: Environment,
) -> types.InputRequiredResult | None:
    """None once the person has said yes to exactly this question; else what to answer so that they are asked.

    Raises `NeedsPerson` where they cannot be asked, or did not say yes.
    """
    if context.protocol_version < ANSWERED_IN_A_NEW_CALL:
        _require_a_form(context, question, environment)
        answer = await context.session.elicit_form(_text(question), _form(question), context.request_id)
        _check(answer, question, environment)
        return None
    shown = sha256_hex(f"{question.about}\n{question.text}")
    given = (params.input_responses or {}).get(_KEY)
    if isinstance(given, types.ElicitResult) and params.request_state == shown:
        _check(given, question, environment)
        return None
    _require_a_form(context, question, environment)
    form = types.ElicitRequestFormParams(message=_text(question), requested_schema=_form(question))
    return types.InputRequiredResult(input_requests={_KEY: types.ElicitRequest(params=form)}, request_state=shown)


def _check(answer: types.ElicitResult, question: Question, environment: Environment) -> None:
    if answer.action == "accept" and (answer.content or {}).get("yes") is True:
        return
    said = "nobody answered" if answer.action == "cancel" else "the person said no"
    raise NeedsPerson(f"Nothing was changed: {said}.", hint=_in_a_terminal(question, environment))


def _require_a_form(context: ServerRequestContext[Any, Any], question: Question, environment: Environment) -> None:
    able = context.session.client_capabilities
    form = able.elicitation if able else None
    if form is None or (form.form is None and form.url is not None):  # a bare {} stands for forms, as it did of old
        raise NeedsPerson(
            "This is a person's act, and this client cannot ask the person.", hint=_in_a_terminal(question, environment)
        )


def _in_a_terminal(question: Question, environment: Environment) -> str:
    known = shutil.which("skillopt-sleep", path=environment.environ.get("PATH", ""))
    program = "skillopt-sleep" if known else f"{shlex.quote(sys.executable)} -m skillopt_sleep"
    return f"The person can do it in a terminal: cd {shlex.quote(str(environment.cwd))} && {program} {question.command}"


def _text(question: Question) -> str:
    left = len(question.text) - _LONGEST
    return question.text if left <= 0 else f"{question.text[:_LONGEST]}\n[... {left} more characters]"


def _form(question: Question) -> dict[str, Any]:
    yes = {"type": "boolean", "title": question.label, "default": False}
    return {"type": "object", "properties": {"yes": yes}, "required": ["yes"]}

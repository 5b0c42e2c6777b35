"""What every command line of ours shares: request models as flags, and errors as sentences with exit codes.

A field of a request model becomes one keyword-only flag; its docstring is the help text; only flags that were really
given end up in the model's `model_fields_set`, so that lower settings layers show through.

Exit codes: 0 ok, 1 failed, 2 usage, 3 waiting for answers, 4 conflict, 5 inconclusive with --strict, 6 nothing to do,
130 interrupted.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from cyclopts import App, Parameter
from cyclopts.exceptions import CycloptsError
from pydantic import ValidationError

from skillopt_sleep import __version__
from skillopt_sleep.domain.errors import SleepError, UsageError

Json = Annotated[bool, Parameter(help="Print the result as JSON.")]
Flags = Parameter(name="*")
"""Marks a request model whose fields are the command's flags."""


def new_app(name: str, help_text: str) -> App:
    """An application whose booleans have no `--no-` twin and whose lists have no `--empty-` twin."""
    return App(
        name=name,
        help=help_text,
        version=__version__,
        default_parameter=Parameter(negative=(), negative_iterable=(), show_default=_worth_showing),
        result_action="return_value",
        suppress_keyboard_interrupt=False,  # `run` below says what is kept
        help_format="markdown",
    )


def run(build: Callable[[], App], arguments: Sequence[str]) -> int:
    """Run one command and return its exit code. Nothing but a bug leaves this function as an exception."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a Windows code page must not break on a skill in another script
            stream.reconfigure(encoding="utf-8", errors="replace")
    as_json = "--json" in arguments
    try:
        result = build()(list(arguments), exit_on_error=False, print_error=False)
        sys.stdout.flush()
    except CycloptsError as error:
        return _fail(_usage(error), as_json=as_json)
    except SleepError as error:
        return _fail(error, as_json=as_json)
    except KeyboardInterrupt:
        return _fail(Interrupted(), as_json=as_json)
    except BrokenPipeError:  # `| head` went away: not an error of ours; keep the interpreter from complaining at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EIO, errno.EBADF):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.stderr.write(f"error: the result cannot be written to where it should go: {error.strerror}.\n")
        return 1
    return result if isinstance(result, int) else 0


class Interrupted(SleepError):
    """A person pressed Ctrl-C."""

    code = "interrupted"
    exit_code = 130

    def __init__(self) -> None:
        super().__init__("Interrupted.", hint="What was done so far is kept; `skillopt-sleep status` shows it.")


def _fail(error: SleepError, *, as_json: bool) -> int:
    if as_json:
        body = {"error": {"code": error.code, "message": error.message, "hint": error.hint}}
        sys.stdout.write(json.dumps(body, ensure_ascii=False, indent=2) + "\n")
    else:
        sys.stderr.write(f"error: {error.message}\n" + (f"  {error.hint}\n" if error.hint else ""))
    return error.exit_code


def _usage(error: CycloptsError) -> UsageError:
    """Our own sentence for what the command line library found wrong."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ValidationError):
            first = cause.errors()[0]
            name = "--" + str(first["loc"][-1]).replace("_", "-") if first["loc"] else "the arguments"
            wanted = first["msg"].removeprefix("Value error, ").removeprefix("Input ")
            return UsageError(f"{name} {wanted}, not {first['input']!r}.", hint="See --help.")
        cause = cause.__cause__ or cause.__context__
    return UsageError(" ".join(str(error).split()), hint="See --help.")


def _worth_showing(value: Any) -> str | None:
    """A default in the help text, unless it says nothing."""
    return None if value in (None, False, (), "") else str(value)

"""Claude Code as a model: `claude:haiku`, with the person's own login or key.

A few processes (`claude_workers`) answer side by side, each with one system prompt, which is where a skill travels, as
on every other backend. The alternative is one neutral system prompt and the skill in the user's turn: then no process
would ever have to be started anew (measured: 74 starts for the 499 calls of a night with three skills, 0.1 s a call),
but the skill would be tested in a place where it does not stand when it is used, and the service's prompt cache would
not know it again.

Structured replies are asked for in words and validated: one request, and the same process as any other prompt. The
client's own `--json-schema` costs about as much, but needs a process for each schema, refuses ours as they come from
pydantic ("strict mode: unknown keyword: discriminator") and asks a second time when a model answers in plain JSON.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel

from skillopt_sleep.backend.claude_models import ALIASES
from skillopt_sleep.backend.claude_pool import Pool
from skillopt_sleep.backend.claude_worker import Setup, Worker
from skillopt_sleep.backend.structured import require
from skillopt_sleep.domain.errors import ModelError, UnknownName, UsageError
from skillopt_sleep.domain.llm import Prompt, Reply, UserMessage, most_prompt_tokens

if TYPE_CHECKING:
    from skillopt_sleep.backend.registry import Options

FRAME_TOKENS = 2048
"""More tokens than the client adds to a request (measured: 1.7 KB of text, the path of the empty folder included)."""

_IN_WORDS = (
    "Reply with one JSON value and nothing else: no introduction, no code fence. It must be valid against this JSON "
    "Schema:\n"
)
_FENCED = re.compile(r"\A\s*```[a-z]*\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)


class ClaudeModel:
    """Asks Claude Code. Tools are not possible here: Claude Code would run its own.

    Its processes are started when they are needed and live until `aclose`, or until the model is forgotten.
    """

    def __init__(
        self, model: str, program: Path, *, environ: Mapping[str, str], workers: int = 4, call_seconds: float = 180.0
    ) -> None:
        self._name = model
        self._call_seconds = call_seconds
        self._pool = Pool(lambda setup: Worker(program, setup, environ), workers)

    @property
    def id(self) -> str:
        return f"claude:{self._name}"

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        text = _only_text(prompt)
        system = f"{prompt.system}\n\n{_IN_WORDS}{_schema_text(schema)}".lstrip() if schema else prompt.system
        async with self._pool.worker(Setup(self._name, system, prompt.max_tokens)) as worker:
            reply = await worker.ask(text, self._call_seconds)
        if schema is None:
            return reply
        return reply.model_copy(update={"text": require(_bare_json(reply.text), schema, model=self.id)})

    def most_tokens(self, prompt: Prompt, schema: type[BaseModel] | None) -> tuple[int, int]:
        """Two requests: after a reply that is cut, declined or empty, the client may have begun another one."""
        given = most_prompt_tokens(prompt, _schema_text(schema)) + FRAME_TOKENS
        return 2 * given + prompt.max_tokens, 2 * prompt.max_tokens

    async def aclose(self) -> None:
        """End all processes. A later call starts new ones."""
        await self._pool.aclose()

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes that there are."""
        return self._pool.pids


def claude(model: str | None, options: Options) -> ClaudeModel:
    """The factory behind `claude:MODEL`. It finds the program at once: a night without one ends before it begins."""
    if model is None:
        raise UsageError("Which Claude model? `claude` alone names none.", hint="Try `claude:haiku`.")
    if model not in ALIASES and not re.search(r"[-.:/@]", model):  # a whole id has some of these
        raise UnknownName("Claude model", model, ALIASES)
    return ClaudeModel(
        ALIASES.get(model, model),
        find_program(options.claude_path, options.environ),
        environ=options.environ,
        workers=options.claude_workers,
        call_seconds=options.call_seconds,
    )


def find_program(named: str | None, environ: Mapping[str, str]) -> Path:
    """The `claude` program: the named one, else the one on the PATH. Raises `UsageError` where there is none."""
    if named is None:
        if found := shutil.which("claude", path=environ.get("PATH", "")):
            return Path(found).absolute()
        raise UsageError(
            "There is no `claude` on the PATH.", hint="Install Claude Code, or name the program with --claude-path."
        )
    path = Path(named).expanduser().absolute()
    if not path.is_file() or shutil.which(path) is None:
        what = "is not a program that can be run" if path.exists() else "does not exist"
        raise UsageError(f"The Claude Code program {path} {what}.", hint="Correct --claude-path, or leave it out.")
    return path


def _only_text(prompt: Prompt) -> str:
    if prompt.tools:
        raise ModelError(
            "The `claude` backend cannot offer a task's own tools to the model yet.",
            hint="Use `anthropic:MODEL` for skills that call tools.",
            billed=False,
        )
    match prompt.messages:
        case (UserMessage(text=text),) if text.strip():
            return text
    raise ModelError("The `claude` backend takes one message of a user, and not an empty one.", billed=False)


def _schema_text(schema: type[BaseModel] | None) -> str:
    return json.dumps(schema.model_json_schema(), ensure_ascii=False) if schema else ""


def _bare_json(text: str) -> str:
    """A reply without the code fence that models like to put around JSON."""
    return match[1] if (match := _FENCED.match(text)) else text

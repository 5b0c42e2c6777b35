"""One Claude Code process that answers one prompt after the other.

Started once (0.4 s and 200 MB) and asked many times (0.05 s), it is told "/clear" before *each* prompt, the first one
included: then every request has the same frame, so that two arms of a comparison differ in nothing but the prompt. The
client confirms a new conversation with a message of its own (`conversation_reset`); without it the process has been
asked for the last time.

What keeps a person's own files, habits and other sessions out of a request, all measured on the wire with 2.1.332:

    --safe-mode --setting-sources ""    no CLAUDE.md, hooks, skills, plugins, settings
    --strict-mcp-config --tools ""      no MCP servers, no tools
    --no-session-persistence            no transcript, which a later night would harvest
    an empty working folder             its path, the platform and the date are what the client adds (about 1 KB)
    DISABLE_ATTACHMENTS, FILE_MENTIONS  without them "@~/.ssh/id_rsa" in a prompt *sends that file*
    a line break before a "/"           "/cost ..." would be a command of the client; --disable-slash-commands would
                                        forbid "/clear" as well, and then conversations run into each other
    MAX_RETRIES=0, no fallback          one request a call; retries are ours, each booked on the budget
    DISABLE_THINKING                    the reply's cap holds for the reply, as on the other backends

Never `--bare`: it does not read the login of a subscription.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skillopt_sleep.backend.claude_stream import MOST_NOISE, Turn, broken_off
from skillopt_sleep.domain.errors import ModelAuthError, ModelError, ModelUnavailable
from skillopt_sleep.domain.llm import Reply
from skillopt_sleep.process import Child, Flooded, attend, environment
from skillopt_sleep.store import Scratch

FLAGS = (
    "-p",
    "--safe-mode",
    "--strict-mcp-config",
    *("--setting-sources", ""),
    "--no-session-persistence",
    *("--tools", ""),
    *("--input-format", "stream-json"),
    *("--output-format", "stream-json"),
    "--verbose",
    "--include-partial-messages",  # tells why a reply stopped before the client asks again by itself
)
SWITCHES = {
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",
    "CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1",
    "CLAUDE_CODE_DISABLE_THINKING": "1",
    "DISABLE_COMPACT": "1",
}
KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
"""Any of these is enough to be let in; without them it takes the login in the person's own folder."""
_ADDRESS = ("ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS")
_FAREWELL = 2.0
"""Seconds that a client has for leaving by itself; it may be writing to the person's own files."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a process is started with. Calls that share it can share a process."""

    model: str
    system: str
    max_tokens: int


class Worker:
    """A client process with its folder. Raises `ModelAuthError` where it cannot be started."""

    def __init__(self, program: Path, setup: Setup, environ: Mapping[str, str]) -> None:
        self.setup = setup
        self.usable = True
        """Whether it may be asked (again)."""
        self._scratch = Scratch()
        own = {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(setup.max_tokens)}
        if any(environ.get(name) for name in KEYS):  # then nothing of the person's own folder is needed, or touched
            own["CLAUDE_CONFIG_DIR"] = str(self._scratch.folder("config"))
        # in a file: a skill can be longer than an argument may be, and arguments can be read by everyone
        system = self._scratch.file("system.md", setup.system.encode("utf-8", "replace"))
        command = (str(program), *FLAGS, "--model", setup.model, "--system-prompt-file", str(system))
        names = (*KEYS, *_ADDRESS, "CLAUDE_CONFIG_DIR")
        try:
            self._child = Child(
                command, environ=environment(environ, *names, **SWITCHES, **own), cwd=self._scratch.folder("work")
            )
        except OSError as error:
            self._scratch.remove()
            raise ModelAuthError(
                f"{program} cannot be started: {error.strerror or error}.", hint="Name another one with --claude-path."
            ) from error

    @property
    def pid(self) -> int:
        return self._child.pid

    async def ask(self, text: str, seconds: float) -> Reply:
        """The reply to one prompt in a conversation of its own. Raises `ModelError`.

        After a turn without a last word (cut, late, cancelled, garbage) the process is gone: it is in no known state.
        """
        self.usable = asked = False

        def converse() -> Turn:
            nonlocal asked
            fresh = self._exchange("/clear", asked=False)
            if not fresh.was_reset:
                raise ModelError(
                    "This `claude` does not begin a new conversation on /clear.", hint="Update it: `claude update`."
                )
            asked = True
            return self._exchange(_literally(text), asked=True)

        try:
            turn = await attend(self._child, converse, seconds)
            self.usable = turn.result is not None
        except TimeoutError as error:
            raise ModelUnavailable(
                f"`claude` did not answer within {seconds:g} s.", retry="transient", billed=asked
            ) from error
        finally:
            if not self.usable:
                self.kill()
        return turn.reply()

    def _exchange(self, text: str, *, asked: bool) -> Turn:
        """Say one thing and listen until its turn is over. Blocks; runs in a thread."""
        turn = Turn()
        message = {"type": "user", "message": {"role": "user", "content": text}}
        try:
            self._child.send(json.dumps(message).encode() + b"\n")
            while not turn.over and (line := self._child.line()):
                turn.hear(line)
                if turn.noise_bytes > MOST_NOISE:
                    raise Flooded
        except BrokenPipeError:
            while line := self._child.line():  # it has gone: what were its last words?
                turn.hear(line)
        except Flooded as error:
            raise ModelUnavailable(
                "`claude` writes without end, and not its protocol.", retry="transient", billed=asked
            ) from error
        if not turn.over:
            raise broken_off(turn, *self._child.last_words(), asked=asked)
        return turn

    def end(self) -> None:
        """Let it leave in peace, or else end it. Blocks for a moment."""
        self.usable = False
        self._child.end(_FAREWELL)
        self._scratch.remove()

    def kill(self) -> None:
        """End it now."""
        self.usable = False
        self._child.kill()
        self._scratch.remove()


def _literally(text: str) -> str:
    """The prompt so that the client sends it and does not run it. What begins with "/" gets a line break before it."""
    return f"\n{text}" if text.startswith("/") else text

"""A pretended Claude Code: a script that speaks `stream-json` and misbehaves on order."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from skillopt_sleep.backend.claude_cli import ClaudeModel, claude
from skillopt_sleep.backend.registry import Options

Habit = Literal[
    "answers",  # with the prompt's own text
    "login_text",  # prints the login text as plain text and leaves, with exit status 0
    "login_result",  # ends its turn with the login text, as a success, without a request
    "refuses_nested",  # leaves if it finds itself inside another session
    "fails_once",  # the first process of all leaves at once, with exit status 1
    "dies",  # in the middle of an answer
    "floods",  # with what is no protocol
    "long_line",  # one line without end
    "chatters",  # a little noise, then an answer
    "sleeps",  # never answers, and has a child of its own
    "forgets_to_forget",  # takes /clear for a prompt
    "unknown_option",  # as an old version
    "deaf",  # never reads
    "fenced",  # answers with JSON in a code fence
    "overloaded",  # every second turn is an error of the service
]

_SCRIPT = r"""#!{python}
import json, os, subprocess, sys, time
habit, log = {habit!r}, {log!r}

def note(**what):
    with open(log, "a") as file:
        file.write(json.dumps({{"pid": os.getpid(), **what}}) + "\n")

def say(**event):
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()

def result(text, **more):
    say(**{{"type": "result", "subtype": "success", "is_error": False, "result": text, "num_turns": 1,
        "total_cost_usd": 0.001, "usage": {{"input_tokens": 10, "output_tokens": 5}},
        "modelUsage": {{"claude-haiku-5-5": {{"outputTokens": 5, "costBasis": "list"}}}}, **more}})

try:
    os.close(os.open(log + ".first", os.O_CREAT | os.O_EXCL))
    first = True
except FileExistsError:
    first = False
system = open(sys.argv[sys.argv.index("--system-prompt-file") + 1], encoding="utf-8", newline="").read()
note(argv=sys.argv, environ=dict(os.environ), cwd=os.getcwd(), files=os.listdir("."), system=system)
if habit == "login_text":
    print("Not logged in · Please run /login")
    sys.exit(0)
if habit == "refuses_nested" and os.environ.get("CLAUDECODE"):
    sys.exit("inside another session")
if habit == "fails_once" and first:
    sys.exit(1)
if habit == "unknown_option":
    sys.exit("error: unknown option '--safe-mode'")
if habit == "deaf":
    time.sleep(600)
turns = 0
for line in sys.stdin:
    text = json.loads(line)["message"]["content"]
    note(said=text)
    if text == "/clear" and habit != "forgets_to_forget":
        say(type="conversation_reset", new_conversation_id="x")
        result("", usage={{}}, modelUsage={{}})
        continue
    turns += 1
    if habit == "login_result":
        result("Not logged in · Please run /login", usage={{}}, modelUsage={{}})
        continue
    if habit == "dies":
        say(type="stream_event", event={{"type": "message_start", "message": {{"model": "m", "usage": {{}}}}}})
        os._exit(3)
    if habit == "floods":
        while True:
            print("la la la " * 100)
    if habit == "long_line":
        while True:
            sys.stdout.write("x" * 65536)
    if habit == "sleeps":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        note(child=child.pid)
        time.sleep(600)
    if habit == "chatters":
        print("DeprecationWarning: something\n[1, 2]\n{{}}\nnull")
    if habit == "overloaded" and turns % 2:
        result("API Error: 529 overloaded", is_error=True, api_error_status=529, usage={{}}, modelUsage={{}})
        continue
    edits = json.dumps({{"edits": []}})
    result("```json\n" + edits + "\n```" if habit == "fenced" else edits if "JSON Schema" in system else text)
"""


@dataclass(frozen=True)
class Client:
    """A script in `folder`, called `claude`, and what it wrote down about its processes."""

    folder: Path
    habit: Habit

    def __post_init__(self) -> None:
        self.program.parent.mkdir(parents=True, exist_ok=True)
        script = _SCRIPT.format(python=sys.executable, habit=self.habit, log=str(self.folder / "log"))
        self.program.write_text(script, encoding="utf-8")
        self.program.chmod(0o755)

    @property
    def program(self) -> Path:
        return self.folder / "bin" / "claude"

    def model(
        self, environ: Mapping[str, str] | None = None, *, workers: int = 2, seconds: float = 20.0
    ) -> ClaudeModel:
        path = f"{self.program.parent}:/usr/bin:/bin"
        options = Options(environ={"PATH": path, **(environ or {})}, claude_workers=workers, call_seconds=seconds)
        return claude("haiku", options)

    def notes(self, kind: str) -> list[Any]:
        """What was noted under a name, in order, by all processes."""
        log = self.folder / "log"
        rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []
        return [row[kind] for row in rows if kind in row]

    @property
    def said(self) -> list[str]:
        """The prompts of all processes, without "/clear"."""
        return [text for text in self.notes("said") if text != "/clear"]

    @property
    def started(self) -> int:
        return len(self.notes("argv"))

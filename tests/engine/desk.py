"""A person's desk for tests of whole nights: a skill, a tasks file, an environment, models that do as they are told."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import yaml
from pydantic import BaseModel

from skillopt_sleep import app
from skillopt_sleep.backend.registry import Options
from skillopt_sleep.domain.events import Event
from skillopt_sleep.domain.llm import Prompt, Reply, Usage
from skillopt_sleep.domain.ports import Model
from skillopt_sleep.requests import RunRequest
from skillopt_sleep.views import RunView
from skillopt_sleep.wiring import Environment

SKILL = b"# Briefs\n\nAnswer in two paragraphs.\n"
ADD_RISKS = {"edits": [{"kind": "add_rule", "text": 'Include a section headed "Risks".', "reason": "it was missing"}]}


@dataclass
class Puppet:
    """A model whose replies a test decides; it remembers every prompt."""

    target: Callable[[Prompt], str]
    optimizer: Callable[[Prompt], str]
    prompts: list[Prompt] = field(default_factory=list)
    id: str = "puppet"

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        self.prompts.append(prompt)
        text = self.optimizer(prompt) if prompt.role == "optimizer" else self.target(prompt)
        return Reply(text=text, model=self.id, usage=Usage(input_tokens=10, output_tokens=10))


class Stage:
    """Holds the puppet that `tests.engine.desk:on_stage` gives out; set anew by every desk."""

    puppet: Model


def on_stage(model: str | None, options: Options) -> Model:
    """The factory that a night's model spec names."""
    return Stage.puppet


class Asleep:
    """A model that never answers. It leaves a mark in the night's folder, so that a test knows it was asked."""

    id = "asleep"

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        async for night in anyio.Path(os.environ["SKILLOPT_SLEEP_HOME"]).glob("projects/*/nights/*"):
            await (night / "asleep").touch()
        await anyio.sleep_forever()
        raise AssertionError("nobody wakes up")


def asleep(model: str | None, options: Options) -> Model:
    return Asleep()


class Mortal:
    """Follows the rules, notes every call in `calls.log`, and is killed with its whole process at call `dies_at`."""

    id = "mortal"

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        log = Path(os.environ["SKILLOPT_SLEEP_HOME"]).parent / "calls.log"
        with log.open("a", encoding="utf-8") as lines:
            lines.write(f"{prompt.role}\n")
        if len(log.read_text(encoding="utf-8").splitlines()) == int(os.environ.get("DIES_AT", "0")):
            os.kill(os.getpid(), signal.SIGKILL)
        await anyio.lowlevel.checkpoint()
        text = json.dumps(ADD_RISKS) if prompt.role == "optimizer" else follows_rules(prompt)
        return Reply(text=text, model=self.id, usage=Usage(input_tokens=10, output_tokens=10))


def mortal(model: str | None, options: Options) -> Model:
    return Mortal()


def follows_rules(prompt: Prompt) -> str:
    """A perfect follower of one rule."""
    return "## Risks\n\nMany." if "Risks" in prompt.system else "A brief."


def proposes(edits: dict[str, Any]) -> Callable[[Prompt], str]:
    return lambda _: json.dumps(edits)


@dataclass
class Desk:
    """Everything lies below `root`."""

    root: Path
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.skill = self.root / "claude" / "skills" / "briefs" / "SKILL.md"
        self.skill.parent.mkdir(parents=True)
        self.skill.write_bytes(SKILL)
        (self.root / "project").mkdir()
        Stage.puppet = Puppet(follows_rules, proposes(ADD_RISKS))

    @property
    def environment(self) -> Environment:
        environ = {"SKILLOPT_SLEEP_HOME": str(self.root / "state"), "CLAUDE_CONFIG_DIR": str(self.root / "claude")}
        return Environment(environ=environ, cwd=self.root / "project", home=self.root)

    def tasks(self, rows: Sequence[dict[str, Any]]) -> str:
        file = self.root / "tasks.yaml"
        file.write_text(yaml.safe_dump({"tasks": list(rows)}), encoding="utf-8")
        return str(file)

    def request(self, tasks: str, **more: Any) -> RunRequest:
        return RunRequest(
            target_model="tests.engine.desk:on_stage", tasks=tasks, skills=("briefs",), **{"yes": True, **more}
        )

    def run(self, puppet: Model, tasks: str, **more: Any) -> RunView:
        Stage.puppet = puppet
        return app.run(self.request(tasks, **more), self.environment, self.events.append)


def rows(train: int = 6, gate: int = 12, test: int = 4, **check: Any) -> list[dict[str, Any]]:
    """So many tasks in each slice, each a family of its own, all with one check."""
    wanted = check or {"op": "section_present", "arg": "Risks"}
    return [
        {
            "id": f"{slice_}-{number}",
            "prompt": f"Write a brief on {slice_} question {number}.",
            "family": f"{slice_} {number}",
            "slice": slice_,
            "checks": [wanted],
        }
        for slice_, count in (("train", train), ("gate", gate), ("test", test))
        for number in range(count)
    ]

"""`scripted`: a model that says what it was told to say. For tests and documentation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import anyio.lowlevel
from pydantic import BaseModel, TypeAdapter, ValidationError

from skillopt_sleep.backend.structured import require
from skillopt_sleep.domain.errors import InputError, ModelError
from skillopt_sleep.domain.llm import Prompt, Reply, Usage, estimate_tokens, prompt_tokens

Line: TypeAlias = Reply | str | ModelError
"""What a script says next: a reply, its text, or the error that takes its place."""
Script: TypeAlias = Sequence[Line] | Callable[[Prompt], Line]


class ScriptedModel:
    """Answers from a list, in order, or from a function of the prompt; keeps the prompts it was given.

    A text that does not fit the schema asked for raises `ModelMalformed`, as with any model. A list that has run out
    raises a plain `ModelError`, which no caller may retry.
    """

    def __init__(self, script: Script, *, model_id: str = "scripted") -> None:
        self._next: Callable[[Prompt], Line] = script if callable(script) else self._from(list(script))
        self._id = model_id
        self.prompts: list[Prompt] = []

    @property
    def id(self) -> str:
        return self._id

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        await anyio.lowlevel.checkpoint()
        self.prompts.append(prompt)
        line = self._next(prompt)
        if isinstance(line, ModelError):
            raise line
        if isinstance(line, str):
            usage = Usage(input_tokens=prompt_tokens(prompt), output_tokens=estimate_tokens(line), estimated=True)
            line = Reply(text=line, model=self._id, usage=usage)
        require(line.text, schema, model=self._id)
        return line

    @staticmethod
    def _from(lines: list[Line]) -> Callable[[Prompt], Line]:
        remaining = iter(lines)

        def following(_prompt: Prompt) -> Line:
            for line in remaining:
                return line
            return ModelError(f"The script has no reply left: all {len(lines)} were given.")

        return following


def from_file(path: str | None) -> ScriptedModel:
    """A model that reads its lines from a JSON file: a list of texts. Raises `InputError` for anything else."""
    if path is None:
        raise InputError("The scripted model needs a file of replies.", hint='Write "scripted:replies.json".')
    try:
        replies = TypeAdapter(list[str]).validate_json(Path(path).read_bytes())
    except OSError as error:
        raise InputError(f"The script {path} cannot be read: {error.strerror}.") from error
    except ValidationError as error:
        raise InputError(f"The script {path} is not a JSON list of texts.") from error
    return ScriptedModel(replies)

"""A model that answers from a list, at the real seam."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from skillopt_sleep.domain.errors import SleepError
from skillopt_sleep.domain.llm import Prompt, Reply, ToolCall, Usage


class ListedModel:
    """Gives its answers in order, the last one for ever, and remembers what it was asked."""

    def __init__(self, answers: Sequence[Reply | SleepError]) -> None:
        self._answers = list(answers)
        self.prompts: list[Prompt] = []

    @property
    def id(self) -> str:
        return "listed:one"

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        self.prompts.append(prompt)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, SleepError):
            raise answer
        return answer


def says(text: str) -> Reply:
    return Reply(text=text, model="listed:one", usage=Usage(input_tokens=10, output_tokens=2))


def calls(name: str, /, **arguments: object) -> Reply:
    call = ToolCall(id=f"call-{name}", name=name, arguments=dict(arguments))
    return Reply(text="", model="listed:one", tool_calls=(call,), stop="tool_use", usage=Usage(input_tokens=10))

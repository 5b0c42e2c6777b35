"""Language models behind one seam (`domain.ports.Model`), and the wrappers that add caching, caps, slots and retries.

`get_backend` is the synchronous front door for scripts and experiments; the engine itself builds its models in wiring.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillopt_sleep.backend.budget import Budget
    from skillopt_sleep.domain.ports import Model

__all__ = ["Backend", "get_backend"]


@dataclass(frozen=True, slots=True)
class Backend:
    """A model with a meter on it and no caps. Whatever calls `model` is counted."""

    model: Model
    budget: Budget

    @property
    def id(self) -> str:
        return self.model.id

    def tokens_used(self) -> int:
        """Input and output tokens of all calls so far; estimated where a service does not count them."""
        return self.budget.tokens

    def calls_made(self) -> int:
        """Model calls so far, failed ones included."""
        return self.budget.calls


def get_backend(name: str, model: str | None = None, codex_path: str | None = None) -> Backend:
    """A backend by name ("sim", "template", ...), with the model it should use ("strong"); "sim:strong" works too.

    Raises `UnknownName` with the nearest match, and `UsageError` where `name` and `model` name two models.
    """
    from skillopt_sleep.backend.budget import Budget
    from skillopt_sleep.backend.metered import Metered
    from skillopt_sleep.backend.registry import Options, build
    from skillopt_sleep.domain.errors import UsageError

    if model is not None and ":" in name:
        raise UsageError(f"{name!r} names a model already, and {model!r} names another one.")
    spec = name if model is None else f"{name}:{model}"
    budget = Budget()
    return Backend(model=Metered(build(spec, Options(codex_path=codex_path)), budget), budget=budget)

"""Errors. A `SleepError` is written for a person; any other exception is a bug.

    SleepError                     exit  what happened
    |-- UsageError                  2    the call's words, settings or input files are wrong
    |   |-- UnknownName             2    a name nobody knows; carries the nearest match
    |   `-- InputError              2    a file that cannot be used (names file, item and check)
    |-- NothingToDo                 6    the run was fine and there is nothing to work on
    |-- ConflictError               4    the world changed under us: a file, a proposal, a running night
    |-- StateError                  1    our own state folder cannot be read or written
    |-- BudgetExhausted             1    a cap would be passed by the next call; the call was not made
    `-- ModelError                  1    a model did not give a usable reply; never turned into a score
        |-- ModelAuthError          1    not logged in, key refused, model not allowed: stops the run
        |-- ModelDown               1    an outage that outlasted all patience: stops the run
        |-- ModelUnavailable        1    outage, timeout, rate limit: this call is a missing observation
        `-- ModelMalformed          1    an answer came, but not one that fits what was asked

Whether a `ModelError` may be tried again is data (`retry`), not a guess from its text.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import ClassVar, Literal

Retry = Literal["no", "transient", "rate_limit"]


class SleepError(Exception):
    """An error that a person can act on.

    `message` says what happened in one sentence; `hint` says what to do next; `code` is stable and machine-readable.
    """

    code: ClassVar[str] = "failed"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class UsageError(SleepError):
    """The call's words, settings or values are wrong."""

    code = "usage"
    exit_code = 2


class UnknownName(UsageError):
    """A name that is not known. Names the nearest known one instead of choosing a silent default."""

    code = "unknown_name"

    def __init__(self, kind: str, name: str, known: Iterable[str], *, hint: str = "") -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(sorted(known))
        folded = {candidate.casefold(): candidate for candidate in self.known}
        match = difflib.get_close_matches(name.casefold(), list(folded), n=1, cutoff=0.5)
        self.nearest = folded[match[0]] if match else None
        guess = f" Did you mean {self.nearest!r}?" if self.nearest else ""
        listed = ", ".join(self.known) if self.known else "none"
        super().__init__(f"There is no {kind} called {name!r}.{guess}", hint=hint or f"Known: {listed}.")


class InputError(UsageError):
    """A file or value a person gave us cannot be used; the message names where."""

    code = "bad_input"


class NothingToDo(SleepError):
    """Everything works, but there is nothing to work on."""

    code = "nothing_to_do"
    exit_code = 6


class ConflictError(SleepError):
    """Something changed since it was last looked at; nothing was overwritten."""

    code = "conflict"
    exit_code = 4


class StateError(SleepError):
    """Our state folder cannot be used."""

    code = "state"


class BudgetExhausted(SleepError):
    """The next call would pass a cap. It was not made."""

    code = "budget"


class ModelError(SleepError):
    """A model gave no usable reply. Callers record a missing observation or stop; they never invent a score."""

    code = "model"

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        retry: Retry = "no",
        retry_after: float | None = None,
        billed: bool | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.retry: Retry = retry
        self.retry_after = retry_after
        """Seconds the service asked us to wait, where it said so."""
        self.billed = retry != "rate_limit" if billed is None else billed
        """Whether the call may cost something all the same: what broke off half-way may have been written and billed,
        what the service refused to begin was not."""


class ModelAuthError(ModelError):
    """The service refuses us as a whole; trying the next task would only repeat it."""

    code = "model_auth"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint, billed=False)


class ModelDown(ModelError):
    """The service has been away for so long that waiting makes no sense; nothing is lost, and a later run goes on."""

    code = "model_down"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint, billed=False)


class ModelUnavailable(ModelError):
    """An outage, a timeout or a rate limit."""

    code = "model_unavailable"


class ModelMalformed(ModelError):
    """A reply that does not have the shape that was asked for."""

    code = "model_malformed"

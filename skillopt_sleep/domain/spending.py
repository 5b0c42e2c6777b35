"""Amounts of spending, and the caps they must stay under."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.llm import Usage

Unit = Literal["calls", "tokens", "usd"]
_TINY = 1e-9
"""Dollars that only come from adding floating-point numbers in another order."""
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Amount:
    """So much spending. Where a price is not known, `usd` says nothing, and calls and tokens still count."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.calls + other.calls, self.tokens + other.tokens, self.usd + other.usd)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.calls - other.calls, self.tokens - other.tokens, self.usd - other.usd)


@dataclass(frozen=True, slots=True)
class Caps:
    """At most so much. None: no cap."""

    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None

    def passed_by(self, amount: Amount) -> Unit | None:
        """The first cap that this amount would pass."""
        if self.calls is not None and amount.calls > self.calls:
            return "calls"
        if self.tokens is not None and amount.tokens > self.tokens:
            return "tokens"
        if self.usd is not None and amount.usd > self.usd + _TINY:
            return "usd"
        return None

    def in_words(self, unit: Unit) -> str:
        """One of the caps ("2,000 calls", "$5.00")."""
        if unit == "usd":
            return f"${self.usd:,.2f}"
        return f"{self.calls if unit == 'calls' else self.tokens:,} {unit}"


class Price(Frozen):
    """US dollars for a million tokens of each kind."""

    input: float
    output: float
    cache_read: float | None = None
    """Input that came from the prompt cache [default: as other input]."""
    cache_write: float | None = None
    """Input that was written to the prompt cache [default: as other input]."""

    long_from: int | None = None
    """Prompts of more input tokens than this cost `long_factor` times as much."""
    long_factor: float = 1.0

    def cost(self, usage: Usage) -> float:
        """What a call cost. A client that names its own price is believed."""
        if usage.usd is not None:
            return usage.usd
        plain = usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens
        total = max(plain, 0) * self.input + usage.output_tokens * self.output
        total += usage.cache_read_tokens * (self.input if self.cache_read is None else self.cache_read)
        total += usage.cache_write_tokens * (self.input if self.cache_write is None else self.cache_write)
        return total * self._factor(usage.input_tokens) / _MILLION

    def most(self, input_tokens: int, output_tokens: int) -> float:
        """The most that a call with so many tokens can cost, whatever the prompt cache does."""
        dearest = max(self.input, self.cache_write or 0.0, self.cache_read or 0.0)
        return (input_tokens * dearest + output_tokens * self.output) * self._factor(input_tokens) / _MILLION

    def _factor(self, input_tokens: int) -> float:
        return self.long_factor if self.long_from is not None and input_tokens > self.long_from else 1.0


FREE = Price(input=0.0, output=0.0)

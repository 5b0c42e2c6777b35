"""The base of every data class that crosses a module border."""

from __future__ import annotations

import hashlib
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Frozen(BaseModel):
    """Immutable, strict about unknown fields: illegal states should not get past construction."""

    # Schemas are built when a model is first used: a command pays for the data it touches, not for all there is.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


UnitInterval = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
"""A share or a score in [0, 1]; NaN and infinities are refused at construction."""


def sha256_hex(data: bytes | str) -> str:
    """Lower-case hex SHA-256 of bytes, or of the UTF-8 bytes of a string.

    Lone surrogates are hashed too: file names that are not UTF-8 hold them.
    """
    return hashlib.sha256(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data).hexdigest()


def short_hash(text: str, length: int = 8) -> str:
    """A stable short identifier for a text: the first `length` hex digits of its SHA-256."""
    return sha256_hex(text)[:length]

"""What short names of Claude models mean, the same for every backend that reaches them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "haiku": "claude-haiku-5-5",
        "sonnet": "claude-sonnet-5-5",
        "opus": "claude-opus-5-5",
        "fable": "claude-fable-5-2",
    }
)
"""As of 2026-12-01, and what Claude Code 2.1.332 means by them. Pinned, so that a name means the same model in two
nights that are compared, and what is priced and cached is what answers."""

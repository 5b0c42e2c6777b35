"""Serves over standard input and output, which then belong to the protocol alone.

Before anything else is loaded, both are moved away: what a library prints goes to standard error, and a child that is
started carelessly reads an empty input.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from skillopt_sleep.wiring import Environment


def serve(environment: Environment) -> None:
    """Serve until the input ends."""
    with _wire() as (incoming, outgoing):
        import anyio
        from mcp.server.stdio import stdio_server

        from skillopt_sleep.mcp_server.server import build

        async def talk() -> None:
            server = build(environment)
            async with stdio_server(anyio.wrap_file(incoming), anyio.wrap_file(outgoing)) as (read, write):
                await server.run(read, write, server.create_initialization_options())

        anyio.run(talk)


@contextmanager
def _wire() -> Iterator[tuple[TextIO, TextIO]]:
    """Private doubles of input and output; 0 reads nothing and 1 writes to standard error until the end."""
    sys.stdout.flush()
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:
        yield (
            io.TextIOWrapper(os.fdopen(incoming, "rb", closefd=False), encoding="utf-8", errors="replace"),
            io.TextIOWrapper(os.fdopen(outgoing, "wb", closefd=False), encoding="utf-8", newline="\n"),
        )
    finally:
        sys.stdout.flush()
        os.dup2(incoming, 0)
        os.dup2(outgoing, 1)

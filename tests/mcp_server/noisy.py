"""A model whose module prints while it is loaded, and whose child writes to the standard output it inherits."""

from __future__ import annotations

import os
import subprocess
import sys

from skillopt_sleep.backend.registry import Options
from skillopt_sleep.domain.ports import Model
from tests.engine.desk import Mortal

print("a library greets")  # noqa: T201
os.write(1, b"straight to the descriptor\n")
subprocess.run((sys.executable, "-c", "import sys; print('a child has read', repr(sys.stdin.read()))"), check=True)


def built(model: str | None, options: Options) -> Model:
    return Mortal()

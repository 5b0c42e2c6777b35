"""Which models a person could use here: looked for when none is chosen, and never used without being asked for.

Only looks: whether a key is set (not what it is), whether a program is on the path, whether a service on this machine
answers which models it has. Nothing is sent anywhere else.
"""

from __future__ import annotations

import http.client
import json
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from skillopt_sleep.domain.base import Frozen

LOCAL_SERVICES: tuple[tuple[str, int], ...] = (
    ("Ollama", 11434),
    ("llama.cpp", 8080),
    ("LM Studio", 1234),
    ("vLLM", 8000),
)
"""Services that speak chat completions, by the port they listen on when nobody tells them otherwise."""

_PATIENCE = 0.3
"""Seconds that a service on this machine has to answer."""
_LONGEST_LIST = 1_000_000
"""Bytes; whatever else listens on such a port may send more."""


class Available(Frozen):
    """Something that can answer prompts."""

    what: str
    """In words ("ANTHROPIC_API_KEY is set")."""
    flags: str
    """What to type to use it."""


def look_around(
    environ: Mapping[str, str], services: Sequence[tuple[str, int]] = LOCAL_SERVICES
) -> tuple[Available, ...]:
    """What is there, the simulated model last. Takes less than a second."""
    found = []
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        if environ.get(name):
            found.append(Available(what=f"{name} is set", flags="--target-model anthropic:haiku"))
    if program := shutil.which("claude", path=environ.get("PATH", "")):
        text = f"Claude Code ({program}), with your login or key"
        found.append(Available(what=text, flags="--target-model claude:haiku"))
    with ThreadPoolExecutor(max_workers=len(services) or 1) as pool:
        answers = pool.map(lambda service: _first_model(service[1]), services)
    for (name, port), model in zip(services, answers, strict=True):
        if model is not None:
            url = f"http://127.0.0.1:{port}/v1"
            address = "" if port == LOCAL_SERVICES[0][1] else f" --openai-url {url}"
            text = f"{name} or the like answers at {url}"
            found.append(Available(what=text, flags=f"--target-model openai:{model}{address}"))
    if environ.get("OPENAI_API_KEY"):
        address = "" if environ.get("OPENAI_BASE_URL") else " --openai-url https://api.openai.com/v1"
        found.append(Available(what="OPENAI_API_KEY is set", flags=f"--target-model openai:MODEL{address}"))
    simulated = "the simulated model, whose figures say so and mean nothing for a real one"
    return (*found, Available(what=simulated, flags="--target-model sim:mid"))


def _first_model(port: int) -> str | None:
    """The first model that a service on this machine names; None where none does so in time."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)
    try:
        connection.request("GET", "/v1/models")
        response = connection.getresponse()
        rows = json.loads(response.read(_LONGEST_LIST))["data"] if response.status == 200 else []
        return next((str(row["id"]) for row in rows), None)
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):  # something else listens there
        return None
    finally:
        connection.close()

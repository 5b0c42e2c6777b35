"""With no model chosen, a night stops and lists what is there, each with the flag that uses it."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from skillopt_sleep import app
from skillopt_sleep.available import look_around
from skillopt_sleep.domain.errors import UsageError
from skillopt_sleep.requests import RunRequest
from skillopt_sleep.wiring import Environment
from tests.engine.desk import Desk, rows
from tests.loopback.server import Loopback


def test_a_key_a_program_and_a_service_are_found_with_their_flags(tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    environ = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "PATH": str(tmp_path)}
    with Loopback() as service:
        port = urlsplit(service.url).port or 0
        found = look_around(environ, [("llama.cpp", port)])
    assert [one.flags for one in found] == [
        "--target-model anthropic:haiku",
        "--target-model claude:haiku",
        f"--target-model openai:loopback --openai-url http://127.0.0.1:{port}/v1",
        "--target-model openai:MODEL --openai-url https://api.openai.com/v1",
        "--target-model sim:mid",
    ]
    assert not service.asked
    assert all(word != "k" for one in found for word in one.what.split())


def test_a_port_that_is_closed_or_silent_or_speaks_something_else_is_no_service() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        found = look_around({}, [("nobody", 1), ("silent", silent.getsockname()[1])])
    assert [one.flags for one in found] == ["--target-model sim:mid"]


@pytest.mark.skipif(os.name == "nt", reason="a file is not a program there")
def test_a_night_without_a_model_lists_what_it_found_and_never_simulates(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    environ = {**desk.environment.environ, "ANTHROPIC_API_KEY": "secret-key"}
    environment = Environment(environ=environ, cwd=tmp_path / "project", home=tmp_path)
    with pytest.raises(UsageError) as caught:
        app.run(RunRequest(tasks=desk.tasks(rows()), skills=("briefs",)), environment)
    assert "--target-model anthropic:haiku" in caught.value.hint
    assert "--target-model sim:mid" in caught.value.hint
    assert "secret-key" not in str(caught.value)
    assert not (tmp_path / "state").exists()

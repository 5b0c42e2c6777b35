"""What every test may rely on: an isolated home, and no network but loopback."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# CI must give the same answer twice; at a desk, property tests look at new examples every time
settings.register_profile("repeatable", derandomize=True, database=None)
if os.environ.get("CI"):
    settings.load_profile("repeatable")

_LOOPBACK = ("127.", "::1", "localhost")


@pytest.fixture(autouse=True)
def _isolated(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test sees the developer's own home, settings or state; no test reaches anything but loopback."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith("SKILLOPT_SLEEP_") and not name.startswith("SKILLOPT_SLEEP_TEST_"):
            monkeypatch.delenv(name)
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("SKILLOPT_SLEEP_HOME", str(home / "state"))
    monkeypatch.setenv("NO_COLOR", "1")
    connect = socket.socket.connect

    def only_loopback(self: socket.socket, address: Any) -> None:
        host = address[0] if isinstance(address, tuple) else ""
        assert not host or host.startswith(_LOOPBACK), f"a test tried to reach {host}"
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", only_loopback)


@pytest.fixture
def test_data() -> Path:
    """The folder of other people's benchmark data, or a skip with the reason."""
    found = os.environ.get("SKILLOPT_SLEEP_TEST_DATA")
    if not found:
        pytest.skip("SKILLOPT_SLEEP_TEST_DATA is not set")
    return Path(found)

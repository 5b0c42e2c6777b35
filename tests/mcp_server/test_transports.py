"""The server as a process: the wire of standard input and output, and HTTP on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters

from tests.engine.desk import rows
from tests.jobs.office import Office

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

COMMAND = (sys.executable, "-m", "skillopt_sleep", "mcp")
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Wire:
    """A client that speaks line by line, and believes nothing."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._asked = 0

    def send(self, line: bytes) -> None:
        assert self._process.stdin
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0", line
        return message

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._asked += 1
        body = {"jsonrpc": "2.0", "id": self._asked, "method": method, "params": {**params, "_meta": META}}
        self.send(json.dumps(body).encode())
        while (message := self.receive()).get("id") != self._asked:
            assert "id" not in message or message["id"] is None
        return message

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result: dict[str, Any] = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        return result

    def leave(self) -> tuple[int, bytes, bytes]:
        """Close the input; gives exit code, what was still said, and the error output."""
        out, err = self._process.communicate(timeout=20)
        return self._process.returncode, out, err


@contextmanager
def served(office: Office, *command: str) -> Iterator[Wire]:
    environ = {**os.environ, **office.environment.environ}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command or COMMAND, cwd=office.environment.cwd, env=environ, **pipes) as process:  # type: ignore[call-overload]
        try:
            yield Wire(process)
        finally:
            process.kill()


def test_a_library_that_prints_and_a_child_that_writes_never_reach_the_wire(office: Office) -> None:
    office.model = "tests.mcp_server.noisy:built"
    with served(office) as wire:
        found = wire.call("optimize-skill", skill="briefs", tasks=office.tasks(rows()))
        assert found["structuredContent"]["offer"]["plan_id"]
        code, out, err = wire.leave()
    assert code == 0
    assert out == b""
    for said in (b"a library greets", b"straight to the descriptor", b"a child has read ''"):
        assert said in err


def test_nonsense_on_the_wire_is_answered_and_ends_nothing(office: Office) -> None:
    with served(office) as wire:
        for nonsense in (b"{", b"[1, 2", b"\xff\xfe", b'{"jsonrpc": "2.0"}', b"null"):
            wire.send(nonsense)
        huge = wire.call("list-skills", offset="9" * 200_000)
        assert huge["isError"] is True
        assert len(huge["content"][0]["text"]) < 1_000
        unknown = wire.call("show-proposal", proposal="наïве-技能-🌙" * 9)
        assert "наïве-技能-🌙" in unknown["content"][0]["text"]
        assert wire.call("list-skills")["structuredContent"]["skills"][0]["name"] == "briefs"
        assert wire.ask("tools/frobnicate")["error"]["code"] == -32601
        code, _, err = wire.leave()
    assert code == 0
    assert b"Traceback" not in err


def test_a_start_loads_no_sdk_of_a_model_and_no_use_case(office: Office) -> None:
    with served(office, sys.executable, "-X", "importtime", *COMMAND[1:]) as wire:
        assert len(wire.ask("tools/list")["result"]["tools"]) >= 11
        _, _, err = wire.leave()
    loaded = {line.rpartition(b"|")[2].strip() for line in err.splitlines() if line.startswith(b"import time:")}
    assert b"skillopt_sleep.mcp_server.server" in loaded
    assert not loaded & {b"anthropic", b"skillopt_sleep.app", b"jinja2", b"skillopt_sleep.backend.registry"}


def test_a_job_goes_on_when_its_client_and_server_are_gone(sleepers: Office) -> None:
    with served(sleepers) as wire:
        plan = wire.call("optimize-skill", skill="briefs", tasks=sleepers.tasks(rows()))["structuredContent"]
        began = time.monotonic()
        job = wire.call("optimize-skill", plan_id=plan["offer"]["plan_id"])["structuredContent"]["job"]
        assert time.monotonic() - began < 2
        code, _, _ = wire.leave()
    assert code == 0
    while not list(sleepers.root.glob("state/projects/*/nights/*/asleep")):
        assert time.monotonic() - began < 40
        time.sleep(0.05)
    with served(sleepers) as wire:
        (seen,) = wire.call("sleep-status", job=job["id"])["structuredContent"]["jobs"]
        assert seen["status"] == "running"
        assert wire.call("sleep-cancel", job=job["id"])["structuredContent"]["status"] == "cancelled"


def test_a_client_that_vanishes_while_it_waits_leaves_a_server_that_ends(sleepers: Office) -> None:
    with served(sleepers) as wire:
        plan = wire.call("optimize-skill", skill="briefs", tasks=sleepers.tasks(rows()))["structuredContent"]
        arguments = {"plan_id": plan["offer"]["plan_id"], "wait_seconds": 600}
        params = {"name": "optimize-skill", "arguments": arguments, "_meta": META}
        wire.send(json.dumps({"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": params}).encode())
        began = time.monotonic()
        while not list(sleepers.root.glob("state/projects/*/nights/*/asleep")):
            assert time.monotonic() - began < 40
            time.sleep(0.05)
        code, _, err = wire.leave()
    assert code == 0
    assert b"Traceback" not in err


async def test_the_sdks_own_client_reaches_it_over_standard_input_and_output(office: Office, era: str) -> None:
    environ = {**office.environment.environ, "PATH": os.environ["PATH"]}
    server = StdioServerParameters(command=COMMAND[0], args=list(COMMAND[1:]), env=environ, cwd=office.environment.cwd)
    async with Client(server, mode=era) as client:
        answer = await client.call_tool("list-skills", {})
        assert answer.structured_content["skills"][0]["name"] == "briefs"


# --- HTTP -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def address(office: Office) -> Iterator[tuple[str, str]]:
    """The address of a server, and its token."""
    environ = {**os.environ, **office.environment.environ}
    with subprocess.Popen(
        (*COMMAND, "--http", "127.0.0.1:0"), cwd=office.environment.cwd, env=environ, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr
        url = process.stderr.readline().split()[3].rstrip(";")
        token = process.stderr.readline().split()[-1]
        yield url, token
        process.terminate()
        process.stderr.read()


async def test_http_serves_whoever_has_the_token(address: tuple[str, str], era: str) -> None:
    from mcp.client.streamable_http import streamable_http_client

    url, token = address
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, trust_env=False) as http,
        Client(streamable_http_client(url, http_client=http), mode=era) as client,
    ):
        answer = await client.call_tool("list-skills", {})
        assert answer.structured_content["skills"][0]["name"] == "briefs"


async def test_http_refuses_strangers_other_hosts_and_other_origins(address: tuple[str, str]) -> None:
    url, token = address
    known = {"Authorization": f"Bearer {token}"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": META}}
    accepts = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28"}
    port = url.split(":")[2].split("/")[0]
    async with httpx2.AsyncClient(trust_env=False) as http:

        async def status(headers: dict[str, str]) -> int:
            return (await http.post(url, json=body, headers={**accepts, **headers})).status_code

        assert await status({}) == 401
        assert await status({"Authorization": "Bearer guessed"}) == 401
        assert await status({**known, "Host": f"evil.example:{port}"}) in (403, 421)
        assert await status({**known, "Host": "127.0.0.1:1"}) in (403, 421)
        assert await status({**known, "Origin": "https://evil.example"}) == 403
        assert await status({**known, "Origin": "null"}) == 403
        assert await status({**known, "Origin": f"http://127.0.0.1:{port}", "MCP-Method": "server/discover"}) == 200


@pytest.mark.parametrize("where", ["0.0.0.0:8765", "example.org:80", "8765", "127.0.0.1:http", "[::]:8765", ":8765"])
def test_http_is_for_this_machine_alone(office: Office, where: str) -> None:
    environ = {**os.environ, **office.environment.environ}
    ended = subprocess.run((*COMMAND, "--http", where), env=environ, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.startswith("error: ")
    assert "Traceback" not in ended.stderr


def test_a_token_that_can_be_guessed_is_refused(office: Office) -> None:
    environ = {**os.environ, **office.environment.environ, "SKILLOPT_SLEEP_MCP_TOKEN": "short"}
    command = (*COMMAND, "--http", "127.0.0.1:0")
    ended = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "at least 16" in ended.stderr

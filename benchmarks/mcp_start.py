"""From spawn to the answer of `tools/list`, and idle memory, against an empty server on the same SDK.

    python -m benchmarks.mcp_start [RUNS]

The yardstick is the smallest server that anyone could write with the SDK's own recommended class: one empty tool. Both
are spawned in turns, so that whatever else the machine does strikes both.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

EMPTY = '''
from mcp.server.mcpserver import MCPServer

server = MCPServer("empty")

@server.tool()
def nothing() -> str:
    """Does nothing."""
    return ""

server.run()
'''
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
LEGACY = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}}


def once(command: list[str], environ: dict[str, str], *, legacy: bool) -> tuple[float, float]:
    """Seconds until the tools were listed, and megabytes that the process then holds."""
    began = time.perf_counter()
    with subprocess.Popen(
        command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        assert server.stdin
        assert server.stdout

        def ask(number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
            assert server.stdin
            assert server.stdout
            body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            server.stdin.write(json.dumps(body).encode() + b"\n")
            server.stdin.flush()
            answer: dict[str, Any] = json.loads(server.stdout.readline())
            return answer

        if legacy:
            ask(1, "initialize", LEGACY)
            server.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        else:
            ask(1, "server/discover", {"_meta": META})
        assert ask(2, "tools/list", {} if legacy else {"_meta": META})["result"]["tools"]
        seconds = time.perf_counter() - began
        status = Path(f"/proc/{server.pid}/status").read_text(encoding="utf-8")
        kilobytes = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
        server.stdin.close()
        server.wait()
    return seconds, kilobytes / 1000


def main(runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.py"
        empty.write_text(EMPTY, encoding="utf-8")
        environ = {**os.environ, "SKILLOPT_SLEEP_HOME": str(Path(folder) / "state"), "HOME": folder}
        commands = {
            "empty server": [sys.executable, str(empty)],
            "skillopt-sleep mcp": [sys.executable, "-m", "skillopt_sleep", "mcp"],
        }
        for legacy in (False, True):
            found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
            for _ in range(runs + 1):
                for name, command in commands.items():
                    found[name].append(once(command, environ, legacy=legacy))
            print(f"protocol {'2025-11-25' if legacy else '2026-07-28'}, {runs} runs, the first of {runs + 1} left out")
            medians = {name: statistics.median(row[0] for row in rows[1:]) for name, rows in found.items()}
            for name, rows in found.items():
                times = [row[0] for row in rows[1:]]
                memory = statistics.median(row[1] for row in rows[1:])
                spread = f"{min(times):.3f} - {max(times):.3f}"
                print(f"  {name:<20} {medians[name]:.3f} s ({spread}), {memory:.1f} MB")
            print(f"  ratio {medians['skillopt-sleep mcp'] / medians['empty server']:.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)

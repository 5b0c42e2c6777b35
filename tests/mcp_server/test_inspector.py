"""The protocol's own inspector, which speaks 2025-11-25, sees every tool, resource and prompt, and can call them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.engine.desk import Puppet, follows_rules, proposes, rows
from tests.jobs.office import Office
from tests.mcp_server.test_tools import ADD, NAMES

INSPECTOR = os.environ.get("SKILLOPT_SLEEP_TEST_INSPECTOR", "")
pytestmark = [
    pytest.mark.client,
    pytest.mark.skipif(not INSPECTOR, reason="SKILLOPT_SLEEP_TEST_INSPECTOR is not set"),
]


def inspect(office: Office, method: str, *more: str) -> dict[str, Any]:
    given = [part for name, value in office.environment.environ.items() for part in ("-e", f"{name}={value}")]
    command = [INSPECTOR, "--cli", *given, sys.executable, "-m", "skillopt_sleep", "mcp", "--method", method, *more]
    ended = subprocess.run(
        command, cwd=office.environment.cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def structured(answer: dict[str, Any]) -> dict[str, Any]:
    """The result of a call that went well."""
    assert not answer.get("isError"), answer["content"]
    found: dict[str, Any] = answer["structuredContent"]
    return found


def call(office: Office, tool: str, **arguments: Any) -> dict[str, Any]:
    given = [part for name, value in arguments.items() for part in ("--tool-arg", f"{name}={value}")]
    return inspect(office, "tools/call", "--tool-name", tool, *given)


def test_the_inspector_lists_everything_and_calls_every_tool(office: Office) -> None:
    (proposal,) = office.run(Puppet(follows_rules, proposes(ADD)), office.tasks(rows())).proposals
    assert {tool["name"] for tool in inspect(office, "tools/list")["tools"]} == NAMES
    listed = {resource["uri"] for resource in inspect(office, "resources/list")["resources"]}
    assert len(inspect(office, "resources/templates/list")["resourceTemplates"]) == 3
    assert {f"sleep://proposals/{proposal}", "sleep://skills/briefs"} <= listed
    for uri in listed:
        (content,) = inspect(office, "resources/read", "--uri", uri)["contents"]
        assert content["text"]
    assert {prompt["name"] for prompt in inspect(office, "prompts/list")["prompts"]} == {
        "review-night",
        "optimize-skill",
    }
    arguments = ("--prompt-name", "optimize-skill", "--prompt-args", "skill=briefs")
    assert "briefs" in inspect(office, "prompts/get", *arguments)["messages"][0]["content"]["text"]

    plan = structured(call(office, "sleep-run", skills="briefs", tasks=office.tasks(rows())))["offer"]
    job = structured(call(office, "sleep-run", plan_id=plan["plan_id"], wait_seconds=60))["job"]
    assert job["status"] == "finished"
    assert structured(call(office, "optimize-skill", skill="briefs", tasks=office.tasks(rows())))["offer"]
    transfer = {"skill": "briefs", "tasks": office.tasks(rows(test=12)), "optimize_on": "sim:weak"}
    assert structured(call(office, "evaluate-transfer", deploy_on="sim:mid", **transfer))["offer"]
    assert structured(call(office, "sleep-status", job=job["id"]))["jobs"]
    assert structured(call(office, "sleep-result", job=job["id"]))["run"]
    assert structured(call(office, "sleep-cancel", job=job["id"]))["status"] == "finished"
    assert structured(call(office, "list-skills"))["skills"]
    assert structured(call(office, "harvest-tasks"))["harvest"]
    shown = structured(call(office, "show-proposal", proposal=proposal))["proposal"]
    refused = call(office, "adopt-proposal", proposal=proposal, before_sha=shown["before_sha256"])
    assert refused["isError"], "the inspector's command line cannot ask a person"
    assert call(office, "undo-adoption", proposal=proposal)["isError"]
    assert structured(call(office, "dismiss-proposal", proposal=proposal))["action"] == "dismissed"

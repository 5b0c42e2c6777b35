from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import MCPError

from skillopt_sleep import app
from skillopt_sleep.mcp_server import schemas
from skillopt_sleep.mcp_server.pages import LONGEST
from skillopt_sleep.requests import AdoptRequest
from tests.engine.desk import SKILL, Puppet, follows_rules, proposes, rows
from tests.jobs.office import Office
from tests.mcp_server.talk import agent

pytestmark = pytest.mark.anyio

NAMES = {
    "optimize-skill",
    "evaluate-transfer",
    "sleep-run",
    "sleep-status",
    "sleep-result",
    "sleep-cancel",
    "list-skills",
    "harvest-tasks",
    "show-proposal",
    "adopt-proposal",
    "undo-adoption",
    "dismiss-proposal",
}


@pytest.fixture
def wanted(office: Office) -> str:
    """A proposal that the gate accepted, from a night at the desk."""
    (found,) = office.run(Puppet(follows_rules, proposes(ADD)), office.tasks(rows())).proposals
    return found


@pytest.fixture
def unsure(office: Office) -> str:
    """A proposal that the gate could not confirm."""
    (found,) = office.run(Puppet(follows_rules, proposes(ADD)), office.tasks(rows(gate=3))).proposals
    return found


ADD = {"edits": [{"kind": "add_rule", "text": 'Include a section headed "Risks".', "reason": "it was missing"}]}


def test_the_schema_files_say_what_the_models_say() -> None:
    wanted = schemas.listing()
    again = "run `python -m skillopt_sleep.mcp_server.schemas`"
    assert schemas.FILE.read_text(encoding="utf-8") == wanted, again
    assert (Path(__file__).parents[2] / "plugin" / "tools.json").read_text(encoding="utf-8") == wanted, again


async def test_every_tool_is_listed_with_both_schemas_and_words(office: Office, era: str) -> None:
    async with agent(office.environment, era) as me:
        tools = (await me.client.list_tools()).tools
    assert {tool.name for tool in tools} == NAMES
    for tool in tools:
        assert tool.input_schema["additionalProperties"] is False
        for name, argument in tool.input_schema["properties"].items():
            assert argument.get("description"), f"{tool.name} does not say what {name} is"
        assert tool.output_schema
        assert next(iter(tool.output_schema["properties"])) == "summary"
        assert len(tool.description or "") < 260


def test_what_a_client_keeps_in_every_request_is_little() -> None:
    listed = json.loads(schemas.listing())["tools"]
    always = [tool for tool in listed if tool.get("_meta", {}).get("anthropic/alwaysLoad")]
    assert [tool["name"] for tool in always] == ["optimize-skill"]
    names = sum(len(f"mcp__plugin_skillopt-sleep_engine__{tool['name']}\n") for tool in listed)
    kept = sum(len(json.dumps(tool["inputSchema"]) + tool["description"]) for tool in always)
    assert (names + kept) / 3 < 1500, "tokens, three characters each: fewer than a client counts"


async def test_a_plan_is_free_and_its_job_is_started_within_two_seconds(office: Office, era: str) -> None:
    async with agent(office.environment, era) as me:
        first = await me.call("optimize-skill", skill="briefs", tasks=office.tasks(rows()), samples=2)
        offer = first["offer"]
        assert first["job"] is None
        assert offer["plan"]["skills"][0]["skill"] == "briefs"
        assert offer["leaves"]
        assert not (office.root / "calls.log").exists()
        began = time.monotonic()
        job = (await me.call("optimize-skill", plan_id=offer["plan_id"], skill="briefs"))["job"]
        assert time.monotonic() - began < 2
        seen = await me.call("sleep-status", job=job["id"], wait_seconds=60)
        assert seen["jobs"][0]["status"] == "finished"
        done = await me.call("sleep-result", job=job["id"])
        (skill,) = done["run"]["report"]["skills"]
        assert skill["verdict"]["decision"] == "accept"
        assert (await me.refused("optimize-skill", plan_id=offer["plan_id"]))["code"] == "conflict"
        waiting = (await me.call("sleep-status"))["state"]["waiting"]
        assert [line["id"] for line in waiting] == done["run"]["proposals"]
    async with agent(office.environment, era) as other:  # another server: everything lies in files
        assert (await other.call("sleep-result", job=job["id"]))["run"]["report"]["id"] == done["run"]["report"]["id"]
    assert office.skill.read_bytes() == SKILL


async def test_a_transfer_experiment_is_planned_and_then_done_by_a_job(office: Office, era: str) -> None:
    tasks = office.tasks(rows(train=4, gate=6, test=12))
    asked = {"skill": "briefs", "tasks": tasks, "optimize_on": ["sim:weak"], "deploy_on": ["sim:mid"], "samples": 1}
    async with agent(office.environment, era) as me:
        offer = (await me.call("evaluate-transfer", **asked))["offer"]
        assert offer["transfer"]["deploy_on"] == ["sim:mid"]
        assert offer["plan"] is None
        wrong = await me.refused("optimize-skill", plan_id=offer["plan_id"])
        assert "is a plan of evaluate-transfer" in wrong["message"]
        job = (await me.call("evaluate-transfer", plan_id=offer["plan_id"], wait_seconds=60))["job"]
        assert (job["status"], job["skills"]) == ("finished", ["briefs"])
        assert job["calls"] > 0
        done = await me.call("sleep-result", job=job["id"])
    assert done["run"] is None
    assert {cell["deploy"] for cell in done["transfer"]["report"]["cells"]} == {"sim:mid"}
    assert office.skill.read_bytes() == SKILL


async def test_waiting_tells_of_progress_and_a_client_that_leaves_harms_nothing(sleepers: Office, era: str) -> None:
    told: list[tuple[float, str | None]] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    async with agent(sleepers.environment, era) as me:
        offer = (await me.call("optimize-skill", skill="briefs", tasks=sleepers.tasks(rows())))["offer"]
        arguments = {"plan_id": offer["plan_id"], "wait_seconds": 1}
        answer = await me.client.call_tool("optimize-skill", arguments, progress_callback=progress)
        job = answer.structured_content["job"]
        assert job["status"] in ("starting", "running")
        assert told
    async with agent(sleepers.environment, era) as other:
        assert (await other.call("sleep-status"))["jobs"][0]["status"] in ("starting", "running")
        assert (await other.refused("sleep-result", job=job["id"]))["code"] == "conflict"
        began = time.monotonic()
        assert (await other.call("sleep-cancel", job=job["id"]))["status"] == "cancelled"
        assert time.monotonic() - began < 2
        again = await other.call("sleep-cancel", job=job["id"])
        assert again["summary"].startswith("There was nothing to stop.")


async def test_adopting_needs_the_yes_of_a_person_who_was_shown_the_change(
    office: Office, wanted: str, era: str
) -> None:
    async with agent(office.environment, era, says="accept") as me:
        shown = await me.call("show-proposal", proposal=wanted)
        sha = shown["proposal"]["before_sha256"]
        stale = await me.refused("adopt-proposal", proposal=wanted, before_sha="0" * 64)
        assert "nobody has looked at this proposal" in stale["message"]
        assert me.asked == []
        done = await me.call("adopt-proposal", proposal=wanted, before_sha=sha)
        assert done["action"] == "adopted"
        assert len(me.asked) == 1
        assert shown["diff"] in me.asked[0]
        assert office.skill.read_bytes() != SKILL
        assert (await me.call("undo-adoption", proposal=wanted))["action"] == "undone"
        assert len(me.asked) == 2
    assert office.skill.read_bytes() == SKILL


@pytest.mark.parametrize("says", ["decline", "cancel", None, "accept"])
async def test_without_a_yes_nothing_changes_and_the_terminal_command_is_named(
    office: Office, wanted: str, era: str, says: Any
) -> None:
    async with agent(office.environment, era, says=says, yes=False) as me:
        sha = (await me.call("show-proposal", proposal=wanted))["proposal"]["before_sha256"]
        error = await me.refused("adopt-proposal", proposal=wanted, before_sha=sha)
        assert error["code"] == "needs_person"
        assert f"adopt {wanted}" in error["hint"]
        assert str(office.environment.cwd) in error["hint"]
        app.adopt(AdoptRequest(proposal=wanted), office.environment)
        adopted = office.skill.read_bytes()
        assert (await me.refused("undo-adoption", proposal=wanted))["code"] == "needs_person"
    assert office.skill.read_bytes() == adopted != SKILL


async def test_only_the_users_own_file_lets_an_agent_adopt_alone(office: Office, wanted: str, era: str) -> None:
    environ = {**office.environment.environ, "SKILLOPT_SLEEP_ALLOW_AGENT_ADOPT": "true"}
    async with agent(replace(office.environment, environ=environ), era) as me:
        sha = (await me.call("show-proposal", proposal=wanted))["proposal"]["before_sha256"]
        error = await me.refused("adopt-proposal", proposal=wanted, before_sha=sha)
        assert error["code"] == "needs_person"
        own = office.environment.cwd / ".skillopt-sleep.toml"
        own.write_text("allow_agent_adopt = true\n", encoding="utf-8")
        error = await me.refused("adopt-proposal", proposal=wanted, before_sha=sha)
        assert "which a project may not decide for you" in error["message"]
        own.unlink()
    (office.root / "state" / "config.toml").write_text("allow_agent_adopt = true\n", encoding="utf-8")
    async with agent(office.environment, era) as me:
        assert (await me.call("adopt-proposal", proposal=wanted, before_sha=sha))["action"] == "adopted"


async def test_a_file_that_changed_since_is_never_overwritten(office: Office, wanted: str, era: str) -> None:
    async with agent(office.environment, era, says="accept") as me:
        sha = (await me.call("show-proposal", proposal=wanted))["proposal"]["before_sha256"]
        office.skill.write_bytes(SKILL + b"mine\n")
        assert (await me.refused("adopt-proposal", proposal=wanted, before_sha=sha))["code"] == "conflict"
    assert office.skill.read_bytes() == SKILL + b"mine\n"


async def test_an_unverified_proposal_is_adopted_only_where_that_is_said(office: Office, unsure: str, era: str) -> None:
    wanted = unsure
    async with agent(office.environment, era, says="accept") as me:
        sha = (await me.call("show-proposal", proposal=wanted))["proposal"]["before_sha256"]
        error = await me.refused("adopt-proposal", proposal=wanted, before_sha=sha)
        assert "The gate did not accept" in error["message"]
        assert me.asked == []
        await me.call("adopt-proposal", proposal=wanted, before_sha=sha, unverified=True)
        assert "THE GATE COULD NOT CONFIRM" in me.asked[0]


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "says"),
    [
        ("optimize-skill", {"skill": "brief"}, "unknown_name", "Did you mean 'briefs'?"),
        ("optimize-skill", {}, "usage", "Which skill?"),
        ("optimize-skill", {"skill": "briefs", "modle": "x"}, "unknown_name", "There is no argument"),
        ("optimize-skill", {"skill": "briefs", "claude_path": "/bin/sh"}, "unknown_name", "claude_path"),
        ("optimize-skill", {"skill": "briefs", "target_model": "os.path:join"}, "usage", "names code to load"),
        ("optimize-skill", {"skill": "briefs", "max_usd": 100}, "usage", "above the person's own cap"),
        ("optimize-skill", {"skill": "briefs", "samples": 0}, "usage", "samples should be greater"),
        ("optimize-skill", {"skill": "x" * 200_000}, "usage", "skill String should have at most 200"),
        ("optimize-skill", {"skill": "naïve-技能-🌙"}, "unknown_name", "naïve-技能-🌙"),
        ("optimize-skill", {"plan_id": "plan-none"}, "unknown_name", "There is no plan called"),
        ("optimize-skill", {"plan_id": "plan-none", "samples": 2}, "usage", "A plan fixes everything"),
        ("sleep-run", {"skills": "briefs", "all_projects": True}, "unknown_name", "all_projects"),
        ("sleep-status", {"job": "job-none"}, "unknown_name", "There is no job in this project"),
        ("sleep-result", {}, "usage", "sleep-result needs job."),
        ("sleep-cancel", {"job": 3}, "usage", "job should be a valid string"),
        ("show-proposal", {"proposal": "none"}, "unknown_name", "There is no proposal called"),
        ("adopt-proposal", {"proposal": "none"}, "usage", "adopt-proposal needs before_sha."),
        ("undo-adoption", {"proposal": "none"}, "unknown_name", "There is no proposal called"),
        ("evaluate", {}, "unknown_name", "There is no tool called 'evaluate'"),
        ("evaluate-transfer", {"skill": "briefs"}, "usage", "No model is named to deploy"),
        ("evaluate-transfer", {"skill": "briefs", "deploy_on": ["os.path:join"]}, "usage", "names code to load"),
        ("evaluate-transfer", {"skill": "briefs", "deploy_on": ["sim:wek"]}, "unknown_name", "wek"),
    ],
)
async def test_bad_input_is_code_sentence_and_hint(
    office: Office, era: str, tool: str, arguments: dict[str, Any], code: str, says: str
) -> None:
    async with agent(office.environment, era) as me:
        error = await me.refused(tool, **arguments)
    assert error["code"] == code
    assert says in error["message"]
    assert len(json.dumps(error)) < 2_000


async def test_tasks_are_counted_by_default_and_read_only_on_request(office: Office, era: str) -> None:
    async with agent(office.environment, era) as me:
        assert (await me.call("harvest-tasks"))["tasks"] == []
        assert (await me.call("harvest-tasks", texts=True))["harvest"]["sessions"] == 0


async def test_a_long_list_comes_in_pages_that_lose_nothing(office: Office, era: str) -> None:
    for number in range(400):
        file = office.root / "claude" / "skills" / f"técnica-{number:03}-{'x' * 100}" / "SKILL.md"
        file.parent.mkdir()
        file.write_bytes(SKILL)
    seen: list[str] = []
    offset: int | None = 0
    async with agent(office.environment, era) as me:
        while offset is not None:
            found = await me.call("list-skills", offset=offset)
            assert len(json.dumps(found, ensure_ascii=False)) <= LONGEST
            seen += [skill["name"] for skill in found["skills"]]
            offset = found["page"]["next_offset"]
    assert len(seen) == len(set(seen)) == 401


async def test_skills_proposals_and_reports_can_be_read(office: Office, wanted: str, era: str) -> None:
    async with agent(office.environment, era) as me:
        listed = [resource.uri for resource in (await me.client.list_resources()).resources]
        (night,) = [uri for uri in listed if uri.startswith("sleep://nights/")]
        assert {f"sleep://proposals/{wanted}", "sleep://skills/briefs"} <= set(listed)
        templates = (await me.client.list_resource_templates()).resource_templates
        assert [template.uri_template for template in templates] == [
            "sleep://skills/{name}",
            "sleep://proposals/{id}",
            "sleep://nights/{id}/report",
        ]

        async def text(uri: str) -> str:
            (content,) = (await me.client.read_resource(uri)).contents
            assert isinstance(content, types.TextResourceContents)
            return content.text

        assert await text("sleep://skills/briefs") == SKILL.decode()
        assert json.loads(await text(f"sleep://proposals/{wanted}"))["proposal"]["id"] == wanted
        assert (await text(night)).startswith("# ")
        for bad in ("sleep://skills/brief", "sleep://nights/../report", "sleep://proposals/none", "file:///etc/passwd"):
            with pytest.raises(MCPError, match="There is no"):
                await text(bad)


async def test_a_link_out_of_a_project_is_not_read(office: Office, era: str) -> None:
    secret = office.root / "secret.md"
    secret.write_text("secret", encoding="utf-8")
    link = office.environment.cwd / ".claude" / "skills" / "stray" / "SKILL.md"
    link.parent.mkdir(parents=True)
    link.symlink_to(secret)
    async with agent(office.environment, era) as me:
        with pytest.raises(MCPError, match="leads out of the project"):
            await me.client.read_resource("sleep://skills/stray")


async def test_prompts_say_to_ask_before_spending_and_adopting(office: Office, era: str) -> None:
    async with agent(office.environment, era) as me:
        assert {prompt.name for prompt in (await me.client.list_prompts()).prompts} == {
            "review-night",
            "optimize-skill",
        }
        (message,) = (await me.client.get_prompt("optimize-skill", {"skill": "briefs"})).messages
        assert isinstance(message.content, types.TextContent)
        assert 'skill="briefs" and no plan_id' in message.content.text
        (message,) = (await me.client.get_prompt("review-night")).messages
        assert isinstance(message.content, types.TextContent)
        assert "adopt nothing that I did not name" in message.content.text
        for name, arguments in (("optimize-skill", {}), ("optimize-skil", {}), ("review-night", {"nigth": "x"})):
            with pytest.raises(MCPError):
                await me.client.get_prompt(name, arguments)

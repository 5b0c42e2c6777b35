from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from skillopt_sleep.cli import main
from skillopt_sleep.experiments import personas
from tests.engine.desk import ADD_RISKS, SKILL, Desk, Puppet, Stage, follows_rules, proposes, rows

Out = pytest.CaptureFixture[str]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    desk = Desk(tmp_path)
    for name, value in desk.environment.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path / "project")
    Stage.puppet = Puppet(follows_rules, proposes(ADD_RISKS))
    return desk


def night(desk: Desk, *more: str) -> list[str]:
    return [
        "run",
        "--target-model",
        "tests.engine.desk:on_stage",
        "--tasks",
        desk.tasks(rows()),
        "--skills",
        "briefs",
        "--yes",
        *more,
    ]


def test_the_way_of_a_proposal_from_night_to_undo(desk: Desk, capsys: Out) -> None:
    assert main(night(desk)) == 0
    out, err = capsys.readouterr()
    assert "1 skill: 1 better." in out
    assert "0 % -> 100 %" in out
    assert "better: proposed for adoption" in out
    assert "briefs: testing on held-out tasks" in err
    assert main(["status"]) == 0
    assert "1 proposal is waiting for review." in capsys.readouterr().out
    assert main(["show", "briefs"]) == 0
    shown = capsys.readouterr().out
    assert '+- Include a section headed "Risks".' in shown
    assert "Why: It was missing" in shown, "the reason of an edit must be shown"
    assert main(["adopt", "briefs"]) == 0
    assert desk.skill.read_bytes() != SKILL
    assert main(["undo", "briefs"]) == 0
    assert "will not come back: Include a section" in capsys.readouterr().out
    assert desk.skill.read_bytes() == SKILL


def test_json_is_the_view_itself_and_nothing_else(desk: Desk, capsys: Out) -> None:
    assert main(night(desk, "--json")) == 0
    out, err = capsys.readouterr()
    view: dict[str, Any] = json.loads(out)
    assert err == ""
    assert view["report"]["skills"][0]["verdict"]["decision"] == "accept"
    for command in (
        ["status"],
        ["show", "briefs"],
        ["harvest"],
        ["skills"],
        ["config", "show"],
        ["adopt", "briefs"],
        ["undo", "briefs"],
    ):
        assert main([*command, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["summary"]


def test_both_ways_of_asking_for_a_plan_are_one_and_call_nobody(desk: Desk, capsys: Out) -> None:
    puppet = Puppet(follows_rules, proposes(ADD_RISKS))
    Stage.puppet = puppet
    assert main(night(desk, "--dry-run", "--json")) == 0
    first = json.loads(capsys.readouterr().out)
    assert main(["dry-run", *night(desk, "--json")[1:]]) == 0
    assert json.loads(capsys.readouterr().out) == first
    assert main(night(desk, "--dry-run")) == 0
    assert "No model was called." in capsys.readouterr().out
    assert puppet.prompts == []


def test_a_plan_needs_no_model_and_says_that_a_night_does(desk: Desk, capsys: Out) -> None:
    assert main(["dry-run", "--tasks", desk.tasks(rows()), "--skills", "briefs"]) == 0
    assert "none chosen yet; a night needs --target-model" in capsys.readouterr().out


def test_sessions_of_other_projects_are_named_as_the_reason_for_an_empty_night(desk: Desk, capsys: Out) -> None:
    shutil.copytree(
        Path(personas.__file__).parent / "demo_data" / "claude" / "projects", desk.root / "claude" / "projects"
    )
    assert main(["run", "--target-model", "sim:mid", "--since-days", "3650"]) == 6
    err = capsys.readouterr().err
    assert "No past session belongs to this project; 101 belong to others." in err
    assert "--all-projects" in err


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["rum"], 2, 'Did you mean "run"'),
        (["run", "--edit-bugdet", "3"], 2, "Did you mean --edit-budget"),
        (["run", "--edit-budget", "0"], 2, "--edit-budget should be greater than or equal to 1, not '0'."),
        (["run", "--samples", "many"], 2, "--samples should be a valid integer"),
        (["run", "--metric", "harder"], 2, "--metric should be 'hard', 'soft' or 'mixed'"),
        (["run", "--target-model", "sim:mid"], 6, "No past sessions were found."),
        (["run"], 2, "No model is chosen"),
        (["show", "nothing"], 2, "Nothing is staged in this project yet."),
        (["run", "--target-model", "sim:mid", "--tasks", "nowhere.yaml"], 2, "nowhere.yaml"),
    ],
)
def test_bad_input_is_one_sentence_a_hint_and_the_documented_code(
    desk: Desk, capsys: Out, arguments: list[str], code: int, says: str
) -> None:
    assert main(arguments) == code
    out, err = capsys.readouterr()
    assert says in err
    assert "Traceback" not in err
    assert main([*arguments, "--json"]) == code
    out, _ = capsys.readouterr()
    assert set(json.loads(out)["error"]) == {"code", "message", "hint"}


def test_a_conflict_has_its_own_code(desk: Desk, capsys: Out) -> None:
    main(night(desk))
    desk.skill.write_bytes(SKILL + b"mine\n")
    assert main(["adopt", "briefs"]) == 4
    assert "has changed since the proposal was made" in capsys.readouterr().err


def test_strict_turns_an_inconclusive_verdict_into_code_five(desk: Desk, capsys: Out) -> None:
    few = [
        "run",
        "--target-model",
        "tests.engine.desk:on_stage",
        "--tasks",
        desk.tasks(rows(gate=3)),
        "--skills",
        "briefs",
        "--yes",
    ]
    assert main(few) == 0
    assert main([*few, "--strict"]) == 5
    capsys.readouterr()


def test_a_stopped_night_ends_with_code_one(desk: Desk, capsys: Out) -> None:
    assert main(night(desk, "--max-calls", "31")) == 1
    assert "The night ended early" in capsys.readouterr().out


def test_settings_show_where_they_come_from(desk: Desk, capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLOPT_SLEEP_SLOTS", "3")
    assert main(["config", "show", "--origin"]) == 0
    assert "environment SKILLOPT_SLEEP_SLOTS" in capsys.readouterr().out
    assert main(["config", "show", "--json"]) == 0
    lines = json.loads(capsys.readouterr().out)["settings"]
    assert {"name": "slots", "value": 3, "origin": "environment SKILLOPT_SLEEP_SLOTS"} in lines


def test_harvested_tasks_can_be_written_down_and_a_file_is_never_overwritten(desk: Desk, capsys: Out) -> None:
    assert main(["harvest", "--output", "tasks-out.yaml"]) == 0
    assert Path("tasks-out.yaml").exists()
    assert main(["harvest", "--output", "tasks-out.yaml"]) == 2
    assert "exists already" in capsys.readouterr().err


def test_every_option_of_a_night_is_a_flag_with_a_help_text(capsys: Out) -> None:
    from skillopt_sleep.requests import RunRequest

    assert main(["run", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for name in RunRequest.model_fields:
        assert f"--{name.replace('_', '-')}" in text
    assert "--no-" not in text
    assert "--empty-" not in text


@pytest.mark.parametrize("command", [["--help"], ["status"], ["adopt", "nothing"], ["undo", "nothing"]])
def test_short_commands_load_no_sdk_and_no_template_engine(command: list[str], desk: Desk) -> None:
    program = (
        "import sys\nfrom skillopt_sleep.cli import main\n"
        f"main({command!r})\n"
        "known = {'anthropic', 'mcp', 'jinja2', 'rapidfuzz', 'jsonschema', 'yaml', 'skillopt_sleep.night'}\n"
        "heavy = known & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_importing_the_package_costs_nothing() -> None:
    program = "import sys\nbefore = set(sys.modules)\nimport skillopt_sleep\nprint(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "['skillopt_sleep']"


def test_a_result_that_cannot_be_written_is_said_in_a_sentence(desk: Desk) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    environ = {**os.environ, **desk.environment.environ}
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "skillopt_sleep", "status"],
            env=environ,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert ended.returncode == 1
    assert ended.stderr.decode().startswith("error: the result cannot be written")


@pytest.mark.skipif(os.name == "nt", reason="a folder in use cannot be deleted there")
def test_a_folder_that_was_deleted_under_us_is_said_in_a_sentence(
    capsys: Out, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert main(["status"]) == 2
    assert "does not exist any more" in capsys.readouterr().err


def test_an_interruption_under_json_is_json(desk: Desk, capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("skillopt_sleep.app.status", interrupted)
    assert main(["status", "--json"]) == 130
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "interrupted"


@pytest.mark.skipif(sys.platform != "linux", reason="names that are not UTF-8 exist only there")
def test_a_path_that_is_not_utf8_can_be_shown_as_json(desk: Desk, capsys: Out) -> None:
    folder = os.fsdecode(os.fsencode(desk.root) + b"/caf\xe9")
    Path(folder, "skills").mkdir(parents=True)
    assert main(["skills", "--claude-home", folder, "--json"]) == 0
    json.loads(capsys.readouterr().out)


def test_an_empty_name_of_an_output_file_is_refused(desk: Desk, capsys: Out) -> None:
    assert main(["harvest", "--output", ""]) == 2
    assert "--output" in capsys.readouterr().err


def test_the_flag_for_the_claude_folder_is_known_to_every_command_that_needs_it(desk: Desk, capsys: Out) -> None:
    assert main(night(desk)) == 0
    home = ["--claude-home", str(desk.root / "claude")]
    for command in (["status"], ["skills"], ["show", "briefs"], ["adopt", "briefs"], ["undo", "briefs"]):
        assert main([*command, *home]) == 0, capsys.readouterr().err
    assert main(["dismiss", "briefs", *home]) == 0

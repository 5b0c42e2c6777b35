from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from skillopt_sleep.commandline import run
from skillopt_sleep.domain.llm import estimate_tokens
from skillopt_sleep.experiments import builtin_seeds
from skillopt_sleep.experiments.gbrain_bench import SEED_FOLDERS, available_seeds, find_data_root, load_seed
from skillopt_sleep.experiments.run_transfer import TransferRequest, TransferView, build, run_transfer
from skillopt_sleep.experiments.transferring import passes_with_ok
from skillopt_sleep.wiring import Environment
from tests.loopback.minds import simulated
from tests.loopback.server import Loopback
from tests.loopback.wire import Answer, Asked, Brain, Fault

CLAUDE = os.environ.get("SKILLOPT_SLEEP_TEST_CLAUDE", "")
SIM = ["--source-backend=sim", "--target-backend=sim", "--target-model=strong", "--data-root=builtin"]
MID = [*SIM, "--source-model=mid"]


def instead(arguments: list[str]) -> list[str]:
    """The usual arguments, with these in place of those of the same name."""
    names = {argument.partition("=")[0] for argument in arguments}
    return [*(usual for usual in MID if usual.partition("=")[0] not in names), *arguments]


def sim(source: str = "mid", target: str = "strong", **more: Any) -> TransferView:
    request = TransferRequest(
        source_backend="sim",
        source_model=source,
        target_backend="sim",
        target_model=target,
        data_root="builtin",
        **{"limit_holdout": 0, "limit_replay": 0} | more,
    )
    return run_transfer(request)


def over_the_wire(tmp_path: Path, brain: Brain, backend: str, **more: Any) -> tuple[TransferView, Loopback]:
    with Loopback(brain) as service:
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "SKILLOPT_SLEEP_HOME": str(tmp_path / "state"),
            "ANTHROPIC_BASE_URL": service.url,
            "ANTHROPIC_API_KEY": "sk-ant-test",
        }
        request = TransferRequest(
            source_backend=backend,
            target_backend=backend,
            data_root="builtin",
            yes=True,
            **{"claude_path": CLAUDE or None} | more,
        )
        environment = Environment(environ=environ, cwd=tmp_path, home=tmp_path)
        return run_transfer(request, environment), service


def test_a_skill_that_one_model_learned_helps_another_on_tasks_that_neither_saw() -> None:
    view = sim()
    (result,) = view.results
    assert (view.source, view.target, view.simulated) == ("sim:mid", "sim:strong", True)
    assert (result.baseline_target, result.verdict, result.test_families) == (0.0, "accept", 12)
    assert result.transfer_gain is not None
    assert result.interval is not None
    assert 0.5 < result.interval[0] <= result.transfer_gain <= result.interval[1]
    assert result.direct_target is not None
    assert result.retention == pytest.approx(result.transfer_gain / result.direct_target)
    assert "Open Questions" in result.learned_skill_tail
    assert result.cost_source.calls > 0
    assert view.tokens_target == result.cost_target.tokens > 0


def test_three_held_out_tasks_are_too_few_to_certify_and_it_says_so() -> None:
    (result,) = sim(limit_holdout=3, limit_replay=3).results
    assert (result.transfer_gain, result.verdict) == (1.0, "inconclusive")
    assert "Too few tasks to certify" in result.verdict_says


def test_without_a_direct_arm_there_is_nothing_to_retain() -> None:
    (result,) = sim(no_direct=True).results
    assert (result.direct_target, result.retention, result.nights_direct) == (None, None, ())
    assert result.transferred is not None


def test_a_model_that_learns_nothing_transfers_nothing_and_nothing_is_certified() -> None:
    (result,) = sim(source="weak", limit_holdout=3, limit_replay=3).results
    assert (result.transferred, result.transfer_gain, result.interval) == (result.baseline_target, 0.0, None)
    assert result.verdict == "reject"
    assert result.verdict_says == "Nothing was learned on the source."


def test_the_same_seed_gives_the_same_figures() -> None:
    assert sim(seeds=("advisor",)) == sim(seeds=("advisor",))


def test_the_command_prints_a_line_a_seed_and_a_count(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build, [*MID, "--seeds", "brief-writer,advisor"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("SIMULATED")
    assert [line.partition(":")[0] for line in out[2:4]] == ["brief-writer", "advisor"]
    assert "/2 positive" in out[-1]


def test_json_holds_what_research_scripts_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build, [*MID, "--no-direct", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["experiment"] == "skillopt-sleep/transfer"
    assert (said["source"], said["target"]) == ("sim:mid", "sim:strong")
    assert said["tokens_source"] > 0
    assert said["tokens_target"] > 0
    (result,) = said["results"]
    assert result["direct_target"] is None
    assert {"baseline_target", "transferred", "transfer_gain", "learned_skill_tail", "retention"} <= set(result)


def test_source_and_target_may_be_one_model_and_that_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build, [*SIM, "--source-model", "strong"]) == 0
    assert "measures learning, not transfer" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ("--target-backend=sym", "Did you mean 'sim'"),
        ("--source-model=stong", "Did you mean 'strong'"),
        ("--seeds=brief-writter", "Did you mean 'brief-writer'"),
        ("--data-root=/nowhere/at/all", "--data-root"),
        ("--max-calls=10", "Raise --max-calls"),
        ("--max-tokens=100", "Raise --max-tokens"),
    ],
)
def test_wrong_names_missing_data_and_small_caps_are_found_before_any_call(
    capsys: pytest.CaptureFixture[str], argument: str, says: str
) -> None:
    assert run(build, instead([argument])) == 2
    assert says in capsys.readouterr().err


def test_a_seed_without_held_out_tasks_and_a_data_root_that_is_a_file_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    builtin_seeds.write(tmp_path)
    (tmp_path / "seed-verbose" / "held-out.jsonl").unlink()
    assert run(build, instead([f"--data-root={tmp_path}", "--seeds=thorough-analyst"])) == 2
    assert "held-out.jsonl" in capsys.readouterr().err
    assert run(build, instead([f"--data-root={tmp_path / 'seed-verbose' / 'SKILL.md'}"])) == 2
    assert "There are no gbrain-evals seeds" in capsys.readouterr().err


def test_what_costs_money_is_not_begun_before_someone_agrees(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    arguments = ["--source-backend", "anthropic", "--target-backend", "anthropic", "--data-root", "builtin"]
    assert run(build, arguments) == 2
    said = capsys.readouterr().err
    assert "nobody has agreed" in said
    assert "$" in said
    assert run(build, [*arguments, "--dry-run"]) == 0
    assert "anthropic:claude-haiku-5-5 -> anthropic:claude-sonnet-5-5: about " in capsys.readouterr().out


def test_over_the_messages_api_each_side_asks_its_own_model_and_pays_its_own_price(tmp_path: Path) -> None:
    view, service = over_the_wire(tmp_path, simulated("strong"), "anthropic")
    (result,) = view.results
    assert result.error is None
    assert result.transferred == 1.0
    models = [asked.model for asked in service.asked]
    assert models.count("claude-haiku-5-5") == result.cost_source.calls
    assert models.count("claude-sonnet-5-5") == result.cost_target.calls
    assert result.cost_source.usd is not None
    assert result.cost_target.usd is not None
    assert result.cost_source.usd > 0
    assert len(models) <= view.plan.most_calls


def test_a_model_that_dies_half_way_leaves_figures_missing_and_never_zero(tmp_path: Path) -> None:
    living = simulated("strong")

    def dying(asked: Asked) -> Answer:
        if asked.model.startswith("claude-sonnet"):
            return Fault("status", status=401, error="authentication_error", message="invalid x-api-key")
        return living(asked)

    view, _ = over_the_wire(tmp_path, dying, "anthropic")
    (result,) = view.results
    assert (result.baseline_target, result.transferred, result.transfer_gain) == (None, None, None)
    assert result.error is not None
    assert "key" in result.error


@pytest.mark.client
@pytest.mark.skipif(not CLAUDE, reason="SKILLOPT_SLEEP_TEST_CLAUDE is not set")
def test_the_experiment_runs_through_the_real_client(tmp_path: Path) -> None:
    view, service = over_the_wire(tmp_path, simulated("strong"), "claude")
    (result,) = view.results
    assert result.error is None
    assert result.baseline_target == 0.0
    assert (result.transferred or 0.0) > 0.5
    assert len(service.asked) == result.cost_source.calls + result.cost_target.calls


def test_the_bundled_seeds_are_those_that_the_generator_writes() -> None:
    root = find_data_root("builtin")
    shipped = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert shipped == builtin_seeds.files()


@pytest.mark.parametrize("seed", SEED_FOLDERS)
def test_a_reply_without_content_passes_no_bundled_seed(seed: str) -> None:
    skill, tasks = load_seed(find_data_root("builtin"), seed)
    assert estimate_tokens(skill) < 200
    assert not anyio.run(passes_with_ok, tasks)
    assert {task.slice for task in tasks} == {"train", "gate", "test"}


def test_of_the_published_seeds_only_the_one_on_length_lets_an_empty_reply_pass(test_data: Path) -> None:
    root = find_data_root(test_data / "gbrain-evals")
    passing = {seed for seed in available_seeds(root) if anyio.run(passes_with_ok, load_seed(root, seed)[1])}
    assert passing == {"thorough-analyst"}

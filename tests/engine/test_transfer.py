"""Transfer experiments as a person asks for them: which model should a skill be deployed on?"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio.lowlevel
import pytest
from pydantic import BaseModel

from skillopt_sleep import app
from skillopt_sleep.backend.registry import Options
from skillopt_sleep.backend.sim import SimModel, strength_named
from skillopt_sleep.cli.commands import build
from skillopt_sleep.commandline import run
from skillopt_sleep.domain.errors import NothingToDo, UnknownName, UsageError
from skillopt_sleep.domain.llm import Prompt, Reply
from skillopt_sleep.domain.ports import Model
from skillopt_sleep.domain.spending import FREE
from skillopt_sleep.domain.transfers import Cell, TransferReport
from skillopt_sleep.domain.trials import Attempt, Mark, Score, Trial
from skillopt_sleep.domain.verdicts import GatePolicy
from skillopt_sleep.experiments.gbrain_bench import find_data_root
from skillopt_sleep.report import matrix
from skillopt_sleep.requests import TransferRequest
from skillopt_sleep.transfer import placebo
from skillopt_sleep.transfer.analysis import Arm, cells, recommendation
from skillopt_sleep.wiring import Environment
from tests.loopback.minds import simulated
from tests.loopback.server import Loopback
from tests.loopback.wire import Answer, Asked, Fault, Say

SIMS = ("sim:weak", "sim:mid", "sim:strong")


@pytest.fixture
def here(tmp_path: Path) -> Environment:
    """The bundled brief writer as a person's own skill, with a tasks file beside the project."""
    seed = find_data_root("builtin") / "seed-missing-structure"
    folder = tmp_path / "claude" / "skills" / "brief-writer"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_bytes((seed / "SKILL.md").read_bytes())
    tasks = []
    for name in ("benchmark", "held-out"):
        for number, line in enumerate((seed / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()):
            row = json.loads(line)
            part = "test" if name == "held-out" else ("train", "gate")[number % 2]
            tasks.append({"id": row["task_id"], "prompt": row["task"], "checks": row["judge"]["checks"], "slice": part})
    (tmp_path / "tasks.json").write_text(json.dumps({"tasks": tasks}), encoding="utf-8")
    (tmp_path / "project").mkdir()
    environ = {"SKILLOPT_SLEEP_HOME": str(tmp_path / "state"), "CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}
    return Environment(environ=environ, cwd=tmp_path / "project", home=tmp_path)


def asked(here: Environment, **more: Any) -> TransferRequest:
    given: dict[str, Any] = {"skills": ("brief-writer",), "tasks": str(here.home / "tasks.json"), "deploy_on": SIMS}
    return TransferRequest(**given | more)


def found(report: TransferReport, deploy: str, name: str) -> Cell:
    (cell,) = [cell for cell in report.cells if (cell.deploy, cell.name) == (deploy, name)]
    return cell


def test_the_whole_matrix_and_its_reverse_come_from_one_run(here: Environment) -> None:
    report = app.transfer(asked(here, control=True), here).report
    names = {cell.name for cell in report.cells if cell.deploy == "sim:strong"}
    assert names == {
        "no skill",
        "original skill",
        "learned on sim:weak",
        "learned on sim:mid",
        "learned here (direct)",
        "placebo",
    }
    assert len(report.cells) == 3 * len(names)
    up, down = found(report, "sim:strong", "learned on sim:mid"), found(report, "sim:mid", "learned on sim:strong")
    for cell in (up, down):
        assert cell.lift is not None
        assert cell.interval is not None
        assert cell.p_value is not None
        assert cell.lift > 0.5
        assert cell.p_value < 0.05
        assert cell.retention is not None
    placebo = found(report, "sim:mid", "placebo")
    assert placebo.interval is not None
    assert placebo.interval[0] <= 0 <= placebo.interval[1]
    assert report.recommendation.startswith("Deploy sim:weak with the skill learned on ")
    assert report.simulated
    assert report.partial is None


def test_reports_are_written_and_the_page_needs_nothing_from_outside(here: Environment) -> None:
    view = app.transfer(asked(here), here)
    page = Path(view.report_path)
    assert {path.name for path in page.parent.iterdir()} == {
        *("manifest.json", "workload.json", "tasks.jsonl"),
        *("report.json", "report.md", "report.html"),
    }
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "http" not in text
    assert "Simulated" in text
    assert text.count("<rect") == len(view.report.cells)
    assert TransferReport.model_validate_json((page.parent / "report.json").read_bytes()) == view.report


def test_few_sealed_families_are_refused_or_explored_without_p_values(here: Environment) -> None:
    file = here.home / "tasks.json"
    rows = json.loads(file.read_text(encoding="utf-8"))["tasks"]
    file.write_text(json.dumps({"tasks": rows[:-4]}), encoding="utf-8")
    with pytest.raises(UsageError, match="has 8 families of sealed test tasks, and 12 are needed: 4 are missing"):
        app.transfer_plan(asked(here), here)
    report = app.transfer(asked(here, exploratory=True, deploy_on=SIMS[1:]), here).report
    assert report.exploratory
    assert all(cell.p_value is None for cell in report.cells)
    assert found(report, "sim:strong", "learned on sim:mid").interval is not None


def test_a_plan_calls_nothing_and_its_bound_holds(here: Environment) -> None:
    plan = app.transfer_plan(asked(here), here)
    assert (plan.costs, plan.simulated, plan.families["test"]) == ("nothing", True, 12)
    report = app.transfer(asked(here), here).report
    calls = sum(row.calls for row in report.spend)
    assert plan.expected_calls * 0.5 < calls <= plan.most_calls


@pytest.mark.parametrize(
    ("more", "error", "says"),
    [
        ({"deploy_on": ()}, UsageError, "No model is named to deploy"),
        ({"deploy_on": ("sim:storng",)}, UnknownName, "Did you mean 'strong'"),
        ({"skills": ()}, UsageError, "about one skill"),
        ({"skills": ("brief-witer",)}, UnknownName, "Did you mean 'brief-writer'"),
        ({"max_calls": 20}, UsageError, "the cap is 20"),
        ({"no_direct": True}, UsageError, "No model is named to optimise"),
    ],
)
def test_what_could_tell_nothing_is_refused_before_any_call(
    here: Environment, more: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        app.transfer(asked(here, **more), here)


def with_rubric(here: Environment) -> None:
    file = here.home / "tasks.json"
    rows = json.loads(file.read_text(encoding="utf-8"))["tasks"]
    for row in rows:
        del row["checks"]
        row["rubric"] = "Is there a section with open questions?"
    file.write_text(json.dumps({"tasks": rows}), encoding="utf-8")


def test_a_model_does_not_grade_its_own_answers_unless_asked_to(here: Environment) -> None:
    with_rubric(here)
    environment = replace(here, environ={**here.environ, "ANTHROPIC_API_KEY": "sk-ant-test"})
    models = ("anthropic:haiku", "anthropic:sonnet")
    with pytest.raises(UsageError, match="would grade its own answers"):
        app.transfer_plan(asked(here, deploy_on=models, judge_model="anthropic:sonnet", max_usd=100), environment)
    plan = app.transfer_plan(
        asked(here, deploy_on=models, judge_model="anthropic:sonnet", grade_own=True, max_usd=100), environment
    )
    assert plan.grader == "anthropic:claude-sonnet-5-5"


def test_what_costs_money_waits_for_a_yes(here: Environment) -> None:
    environment = replace(here, environ={**here.environ, "ANTHROPIC_API_KEY": "sk-ant-test"})
    request = asked(here, deploy_on=("anthropic:haiku", "anthropic:sonnet"), max_usd=100)
    with pytest.raises(UsageError, match="nobody has agreed"):
        app.transfer(request, environment)
    with pytest.raises(NothingToDo, match="nothing was spent"):
        app.transfer(request, environment, confirm=lambda plan: plan.costs != "known")


def wired(here: Environment, service: Loopback) -> Environment:
    wire = {"ANTHROPIC_BASE_URL": service.url, "ANTHROPIC_API_KEY": "sk-ant-test"}
    return replace(here, environ={**here.environ, **wire})


def test_a_model_that_fails_is_missing_and_asked_again_nothing_is_paid_for_twice(here: Environment) -> None:
    mind, broken = simulated("strong"), True

    def brain(asked_: Asked) -> Answer:
        if broken and asked_.model.startswith("claude-sonnet"):
            return Fault("status", status=401, error="authentication_error", message="invalid x-api-key")
        return mind(asked_)

    request = asked(here, deploy_on=("anthropic:haiku", "anthropic:sonnet"), samples=1, yes=True, max_usd=100)
    with Loopback(brain) as service:
        environment = wired(here, service)
        first = app.transfer(request, environment).report
        assert first.partial is not None
        assert "anthropic:sonnet" in first.partial
        assert found(first, "anthropic:sonnet", "original skill").mean is None
        assert found(first, "anthropic:haiku", "learned here (direct)").mean is not None
        assert first.recommendation.startswith("Cannot tell")
        haikus = sum(asked_.model.startswith("claude-haiku") for asked_ in service.asked)
        broken = False
        service.asked.clear()
        second = app.transfer(request, environment).report
        again = [asked_ for asked_ in service.asked if asked_.model.startswith("claude-haiku")]
    assert second.partial is None
    assert found(second, "anthropic:sonnet", "original skill").mean is not None
    # only the skill that could not be learned the first time is new on haiku
    assert len(again) <= 12 < haikus


UNDER_WAY: list[int] = [0, 0]
"""Calls of both crowded models that are under way, and the most that ever were."""


class Crowded:
    """The simulated model, counting how many of its calls are under way at once."""

    def __init__(self, name: str) -> None:
        self.id = name
        self._mind = SimModel(strength_named("mid"), seed=0)

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        UNDER_WAY[0] += 1
        UNDER_WAY[1] = max(UNDER_WAY)
        try:
            for _ in range(5):
                await anyio.lowlevel.checkpoint()
            return await self._mind.generate(prompt, schema=schema)
        finally:
            UNDER_WAY[0] -= 1


def one(_model: str | None, _options: Options) -> Model:
    return Crowded("one")


def other(_model: str | None, _options: Options) -> Model:
    return Crowded("other")


def test_all_models_together_keep_to_the_slots_and_to_one_cap(here: Environment) -> None:
    UNDER_WAY[:] = [0, 0]
    models = tuple(f"{__name__}:{name}" for name in ("one", "other"))
    request = asked(here, deploy_on=models, slots=3, yes=True)
    report = app.transfer(request, here).report
    assert report.partial is None
    assert UNDER_WAY == [0, 3]
    assert report.recommendation.startswith("Cannot tell: a price is not known")
    spent = sum(row.calls for row in report.spend)
    expected = app.transfer_plan(request, here).expected_calls
    again = replace(here, environ={**here.environ, "SKILLOPT_SLEEP_HOME": str(here.home / "other")})
    capped = app.transfer(asked(here, deploy_on=models, yes=True, max_calls=expected), again).report
    assert sum(row.calls for row in capped.spend) <= expected
    assert capped.partial is None or spent > expected


def test_a_grader_that_gives_no_grade_leaves_everything_missing_and_says_why(here: Environment) -> None:
    with_rubric(here)
    mind = simulated("strong")

    def brain(asked_: Asked) -> Answer:
        if asked_.model.startswith("claude-opus"):
            return Say(text=json.dumps({"grades": [{"criterion": 1, "score": 7, "reason": "Nice."}]}))
        return mind(asked_)

    models = ("anthropic:haiku", "anthropic:sonnet")
    with Loopback(brain) as service:
        request = asked(here, deploy_on=models, judge_model="anthropic:opus", samples=1, yes=True, max_usd=100)
        view = app.transfer(request, wired(here, service))
    assert all(cell.mean is None and cell.lift is None for cell in view.report.cells)
    assert view.report.partial is not None
    assert "the grader gave a score outside of 0 to 1" in view.report.partial
    assert view.summary.startswith("Partial, figures are missing: anthropic:haiku: no attempt could be scored")


@pytest.mark.parametrize("added", [0, 1, 35, 240, 1900])
def test_a_placebo_is_as_long_as_the_longest_learned_skill(added: int) -> None:
    original = "# Briefs\n\nWrite a brief.\n"
    longest = original + "x" * added
    inert = placebo(original, (original, longest))
    assert inert.startswith(original)
    assert len(inert) == len(longest) or added == 0
    assert inert != original


def test_the_best_of_many_versions_is_not_believed_for_being_the_best(here: Environment) -> None:
    """One version that is ten points ahead is enough; the best of forty with the same figures is not."""
    original, version = [0] * 6 + [1] * 6, [1] * 7 + [0] + [1] * 4
    dear = Arm("dear", "original", trials=trials(original, "original"))

    def says(versions: int) -> str:
        others = [Arm("cheap", "learned", learned_on=f"m{n}", trials=trials([0] * 12, "learned")) for n in range(39)]
        best = Arm("cheap", "learned", learned_on="dear", trials=trials(version, "learned"))
        arms = [dear, best, *others[: versions - 1]]
        policy = GatePolicy(samples=1)
        prices = {"cheap": FREE, "dear": FREE}
        every = cells(arms, policy, prices, exploratory=False)
        return recommendation([*arms[1:], dear], every[1:], prices, policy, 0.1)

    assert says(1).startswith("Deploy cheap with the skill learned on dear")
    assert says(40).startswith("Cannot tell whether a cheaper model")


def folders(here: Environment) -> list[Path]:
    return sorted(path for path in here.home.glob("state/projects/*/transfers/*") if path.is_dir())


def test_an_experiment_that_a_cap_stopped_goes_on_with_its_tasks_and_its_account(here: Environment) -> None:
    mind = simulated("strong")
    models = ("anthropic:haiku", "anthropic:sonnet")
    with Loopback(mind) as service:
        environment = wired(here, service)
        needed = app.transfer_plan(asked(here, deploy_on=models, samples=1, max_usd=100), environment).expected_calls
        budget: dict[str, Any] = {"deploy_on": models, "samples": 1, "yes": True, "max_usd": 100}

        def brain(asked_: Asked) -> Answer:
            if len(service.asked) > needed // 2:
                return Fault("status", status=401, error="authentication_error", message="invalid x-api-key")
            return mind(asked_)

        service.brain = brain
        first = app.transfer(asked(here, **budget), environment).report
        assert first.partial is not None
        answered = needed // 2
        service.brain = mind
        service.asked.clear()
        second = app.transfer(asked(here, **budget, max_calls=5000), environment).report
        assert second.partial is None
        assert second.id == first.id
        assert len(folders(here)) == 1
        spent = sum(row.calls for row in second.spend)
        assert spent >= answered + len(service.asked), "what it spent before is still counted"
        third = app.transfer(asked(here, **budget), environment).report
        assert third.id != first.id, "a complete experiment is not continued"


def trials(passed: list[int], arm: str) -> tuple[Trial, ...]:
    return tuple(
        Trial(
            task_id=f"t{n}",
            family=f"f{n}",
            sample=0,
            arm="before" if arm == "original" else "after",
            attempt=Attempt(task_id=f"t{n}", text="x"),
            score=Score(judge="rules@1", mark=Mark(hard=mark, soft=mark)),
        )
        for n, mark in enumerate(passed)
    )


def test_harm_on_a_model_comes_first_and_in_words(here: Environment) -> None:
    arms = [
        Arm("cheap", "original", trials=trials([1] * 10 + [0] * 2, "original")),
        Arm("cheap", "learned", learned_on="dear", trials=trials([0] * 12, "learned")),
        Arm("dear", "original", trials=trials([1] * 6 + [0] * 6, "original")),
        Arm("dear", "learned", learned_on="dear", trials=trials([1] * 12, "learned")),
    ]
    prices = {"cheap": FREE, "dear": FREE}
    policy = GatePolicy(samples=1)
    every = cells(arms, policy, prices, exploratory=False)
    harmed, helped = every[1], every[3]
    assert harmed.harmful
    assert not helped.harmful
    assert harmed.retention is None, "nothing was learned on the cheap model itself to compare with"
    whole = app.transfer(asked(here), here).report.model_copy(
        update={"cells": every, "recommendation": recommendation(arms, every, prices, policy, 0.1)}
    )
    assert matrix.summary(whole).startswith("HARM: learned on dear makes cheap worse by 83 points.")
    assert "None: no cheaper model" in matrix.summary(whole)
    assert "class=harm" in matrix.html(whole)
    broken = whole.model_copy(update={"partial": "dear: it went away"})
    assert matrix.summary(broken).startswith("HARM: "), "harm comes before everything, missing figures too"


def test_two_skills_never_look_alike_on_the_page(here: Environment) -> None:
    """Long names of models differ at their ends, so no name of a row is shortened."""
    models = ("anthropic:claude-haiku-4-5", "anthropic:claude-sonnet-5-5")
    learned = [
        Arm(model, "learned", learned_on=source, trials=trials([1] * 12, "learned"))
        for model in models
        for source in models
    ]
    originals = [Arm(model, "original", trials=trials([0] * 12, "original")) for model in models]
    every = cells([*originals, *learned], GatePolicy(samples=1), dict.fromkeys(models, FREE), exploratory=False)
    report = app.transfer(asked(here), here).report.model_copy(update={"cells": every, "deployed_on": models})
    page = matrix.html(report)
    for model in models:
        assert f">learned on {model}</text>" in page


def test_the_command_line_prints_the_matrix_and_the_recommendation(
    here: Environment, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in here.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(here.cwd)
    arguments = ["transfer", "--skills=brief-writer", f"--tasks={here.home / 'tasks.json'}"]
    arguments.append("--deploy-on=sim:mid,sim:strong")
    assert run(build, [*arguments, "--dry-run"]) == 0
    assert "No model was called." in capsys.readouterr().out
    assert run(build, arguments) == 0
    out = capsys.readouterr().out
    assert out.startswith("Deploy sim:mid with the skill learned on ")
    assert "Report: " in out
    assert run(build, [*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["report"]["deployed_on"] == ["sim:mid", "sim:strong"]

"""The doctor says what is so and what to do about it, and spends nothing that was not agreed to."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pydantic import BaseModel

from skillopt_sleep import app
from skillopt_sleep.domain.errors import ModelAuthError, UsageError
from skillopt_sleep.domain.llm import Prompt, Reply
from skillopt_sleep.requests import DoctorRequest
from skillopt_sleep.views import DoctorView
from tests.engine.desk import ADD_RISKS, Desk, Puppet, Stage, follows_rules, proposes, rows

CHOSEN = "tests.engine.desk:on_stage"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@dataclass
class Reader:
    """Knows the codeword when it stands in its instructions."""

    blind: bool = False
    refuses: bool = False
    prompts: list[Prompt] = field(default_factory=list)
    id: str = "reader"

    async def generate(self, prompt: Prompt, *, schema: type[BaseModel] | None = None) -> Reply:
        self.prompts.append(prompt)
        if self.refuses:
            raise ModelAuthError("The key was refused.", hint="Get another one.")
        found = next((word for word in prompt.system.split() if word.startswith("heron-")), None)
        return Reply(text="none" if self.blind or not found else found.rstrip("."), model=self.id)


def states(view: DoctorView) -> dict[str, str]:
    return {finding.about: finding.state for finding in view.findings}


def examined(desk: Desk, model: Reader, **more: object) -> DoctorView:
    Stage.puppet = model
    request = DoctorRequest.model_validate({"target_model": CHOSEN, "yes": True, **more})
    return app.doctor(request, desk.environment)


def test_a_target_that_sees_its_skill_passes_the_canary(desk: Desk) -> None:
    view = examined(desk, Reader())
    assert states(view)["canary rule"] == "ok"
    assert states(view)["target model"] == "ok"
    assert states(view)["price"] == "warning"


def test_a_target_that_does_not_see_its_skill_is_a_problem(desk: Desk) -> None:
    found = next(one for one in examined(desk, Reader(blind=True)).findings if one.about == "canary rule")
    assert found.state == "problem"
    assert "did not come back" in found.text


def test_a_refused_key_is_said_in_the_services_words_and_the_canary_is_spared(desk: Desk) -> None:
    view = examined(desk, Reader(refuses=True))
    found = next(one for one in view.findings if one.about == "target model")
    assert (found.state, found.text, found.what_to_do) == ("problem", "The key was refused.", "Get another one.")
    assert "canary rule" not in states(view)


@pytest.mark.parametrize("more", [{"offline": True}, {"yes": False}])
def test_no_call_is_made_offline_or_without_a_yes(desk: Desk, more: dict[str, bool]) -> None:
    model = Reader()
    view = examined(desk, model, **more)
    assert model.prompts == []
    assert states(view)["models"] == "skipped"


def test_whoever_is_asked_and_agrees_gets_the_calls(desk: Desk) -> None:
    Stage.puppet = model = Reader()
    asked: list[str] = []

    def agree(question: str) -> bool:
        asked.append(question)
        return True

    view = app.doctor(DoctorRequest(target_model=CHOSEN), desk.environment, ask=agree)
    assert "reader" in asked[0]
    assert len(model.prompts) == 4
    assert states(view)["canary rule"] == "ok"


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_state_that_others_can_read_and_a_damaged_database_are_problems(desk: Desk) -> None:
    desk.run(Reader(), desk.tasks(rows()))
    state = desk.root / "state"
    (state / "cache.sqlite3").chmod(0o644)
    for suffix in ("", "-wal", "-shm"):
        (state / f"spend.sqlite3{suffix}").unlink(missing_ok=True)
    (state / "spend.sqlite3").write_bytes(b"rubbish" * 1000)
    (state / "spend.sqlite3").chmod(0o600)
    view = examined(desk, Reader(), offline=True)
    problems = [finding.text for finding in view.findings if finding.state == "problem"]
    assert any("can be read by others" in text and "cache.sqlite3" in text for text in problems)
    assert any("spend.sqlite3 is damaged" in text for text in problems)


def test_without_a_model_the_doctor_names_what_was_found(desk: Desk) -> None:
    view = app.doctor(DoctorRequest(), desk.environment)
    (found,) = [one for one in view.findings if one.about == "models"]
    assert found.state == "warning"
    assert "--target-model sim:mid" in found.what_to_do


def test_looking_creates_no_state(desk: Desk) -> None:
    app.doctor(DoctorRequest(target_model=CHOSEN, offline=True), desk.environment)
    assert not (desk.root / "state").exists()


def test_measured_noise_decides_how_many_samples_a_night_takes_unless_it_is_told(desk: Desk) -> None:
    tasks = desk.tasks(rows())
    Stage.puppet = Puppet(follows_rules, proposes(ADD_RISKS))
    request = DoctorRequest(target_model=CHOSEN, tasks=tasks, skills=("briefs",), noise=True, yes=True)
    view = app.doctor(request, desk.environment)
    assert view.noise
    assert (view.noise.flip_rate, view.noise.suggested_samples) == (0.0, 1)
    assert states(view)["noise"] == "ok"
    plan = app.plan(desk.request(tasks), desk.environment)
    told = app.plan(desk.request(tasks, samples=3), desk.environment)
    assert plan.expected_calls < told.expected_calls


def test_noise_is_measured_on_one_skill_at_a_time(desk: Desk) -> None:
    other = desk.root / "claude" / "skills" / "notes" / "SKILL.md"
    other.parent.mkdir()
    other.write_text("# Notes\n", encoding="utf-8")
    both = [
        {**row, "id": f"{name}-{row['id']}", "skill": name, "family": f"{name} {row['family']}"}
        | {"prompt": f"{row['prompt']} {name}"}
        for name in ("briefs", "notes")
        for row in rows()
    ]
    request = DoctorRequest(target_model=CHOSEN, tasks=desk.tasks(both), noise=True, yes=True)
    with pytest.raises(UsageError, match="--skills: briefs, notes"):
        app.doctor(request, desk.environment)

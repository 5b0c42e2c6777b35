"""A spy model and every byte of the state folder, after nights with secrets wherever a person may have left them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from skillopt_sleep import app
from skillopt_sleep.domain.llm import Prompt
from skillopt_sleep.requests import AdoptRequest, RunRequest
from skillopt_sleep.views import RunView
from tests.engine.desk import ADD_RISKS, Desk, Puppet, Stage, follows_rules, proposes, rows
from tests.harvest.transcripts import Transcript, session_id
from tests.mine.builders import subjects
from tests.redact.secrets import made_up

IN_PROMPT = "gh" + "p_" + made_up(36, seed=1)
IN_NOTES = "AI" + "za" + made_up(35, seed=2)
IN_SKILL = "hf" + "_" + made_up(34, seed=3)
IN_REPLY = "sk-" + "ant-api03-" + made_up(93, seed=4)
IN_EDIT = "np" + "m_" + made_up(36, seed=5)
IN_SESSION = "gl" + "pat-" + made_up(20, seed=6)
PASSWORD = "Tr0ub4dor!3x"

SKILL = f"# Briefs\r\n\r\nAnswer in two paragraphs. The service takes the key {IN_SKILL} \u00e9.\r\n".encode()
LEAKY = {"kind": "add_rule", "text": f"Log in with {IN_EDIT} first.", "reason": "it was asked for"}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    made.skill.write_bytes(SKILL)
    return made


def leaky() -> Puppet:
    return Puppet(
        lambda prompt: f"{follows_rules(prompt)}\n\nThe key was {IN_REPLY}.",
        proposes({"edits": [LEAKY, *ADD_RISKS["edits"]]}),
    )


def sent(puppet: Puppet) -> str:
    return "\n".join(prompt.model_dump_json() for prompt in puppet.prompts)


def stored(desk: Desk, *, copies_of_the_skill: bool) -> Iterator[bytes]:
    """All files below the state folder; a proposal's copies of the person's own file are told apart."""
    for path in (desk.root / "state").rglob("*"):
        if path.is_file() and (path.name in ("before.md", "after.md", "diff.patch")) == copies_of_the_skill:
            yield path.read_bytes()


def with_a_tasks_file(desk: Desk, puppet: Puppet) -> RunView:
    given = rows()
    for row in given:
        row["prompt"] += f" Use {IN_PROMPT}. Пароль: {PASSWORD}"
        row["tools"] = [{"name": "search", "notes": {"access": f"The map key is {IN_NOTES}."}}]
    return desk.run(puppet, desk.tasks(given))


def test_no_secret_of_a_tasks_file_a_skill_or_a_reply_is_sent_or_stored(desk: Desk) -> None:
    puppet = leaky()
    with_a_tasks_file(desk, puppet)
    assert len(puppet.prompts) > 20
    files = list(stored(desk, copies_of_the_skill=False))
    assert len(files) > 5
    for secret in (IN_PROMPT, IN_NOTES, IN_SKILL, IN_REPLY, IN_EDIT, PASSWORD):
        assert secret not in sent(puppet), secret
        assert not any(secret.encode() in data for data in files), secret


def test_what_was_masked_is_counted_by_kind_in_every_report(desk: Desk) -> None:
    view = with_a_tasks_file(desk, leaky())
    assert view.report.harvest.masked["github_token"] == 22
    assert view.report.masked["huggingface_token"] >= 1
    assert view.report.masked["anthropic_key"] >= 1
    folder = Path(view.report_path).parent
    for name in ("report.md", "report.html", "report.json"):
        text = (folder / name).read_text(encoding="utf-8")
        assert "github_token" in text
        assert "anthropic_key" in text


def test_an_adopted_skill_keeps_its_own_bytes_and_gets_neither_a_mask_nor_a_strangers_secret(desk: Desk) -> None:
    puppet = leaky()
    (proposal,) = with_a_tasks_file(desk, puppet).proposals
    for data in stored(desk, copies_of_the_skill=True):
        assert not any(secret.encode() in data for secret in (IN_PROMPT, IN_NOTES, IN_REPLY, IN_EDIT, PASSWORD))
    app.adopt(AdoptRequest(proposal=proposal), desk.environment)
    adopted = desk.skill.read_bytes()
    assert adopted.startswith(SKILL.rstrip())
    assert b"Risks" in adopted
    assert b"[masked" not in adopted


def test_no_secret_of_a_session_is_sent_or_stored(desk: Desk) -> None:
    wanted = [*subjects("train", 4), *subjects("gate", 6), *subjects("test", 2)]
    for number, subject in enumerate(wanted * 2, start=1):
        Transcript(session_id(number), cwd=str(desk.root / "project")).prompt(
            f"{subject}. The token is {IN_SESSION}, password={PASSWORD}"
        ).reply("A brief.", skill="briefs").prompt('No. Always include a section headed "Risks".').write(
            desk.root / "claude"
        )
    puppet = leaky()
    Stage.puppet = puppet
    view = app.run(
        RunRequest(yes=True, target_model="tests.engine.desk:on_stage", since_days=3650),
        desk.environment,
        desk.events.append,
    )
    assert view.report.harvest.masked["gitlab_token"] == 24
    assert puppet.prompts
    files = list(stored(desk, copies_of_the_skill=False))
    for secret in (IN_SESSION, PASSWORD, IN_SKILL, IN_REPLY, IN_EDIT):
        assert secret not in sent(puppet), secret
        assert not any(secret.encode() in data for data in files), secret


def test_an_error_in_which_a_service_quotes_a_key_is_masked_before_it_is_stored(desk: Desk) -> None:
    from skillopt_sleep.domain.errors import ModelAuthError

    def refuses(_: Prompt) -> str:
        raise ModelAuthError(f"Incorrect API key provided: {IN_REPLY}.")

    view = desk.run(Puppet(refuses, refuses), desk.tasks(rows()))
    assert "[masked:anthropic_key]" in str(view.report.stopped)
    assert not any(IN_REPLY.encode() in data for data in stored(desk, copies_of_the_skill=False))

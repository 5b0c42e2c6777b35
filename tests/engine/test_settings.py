from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skillopt_sleep.domain.errors import InputError, SleepError, UnknownName, UsageError
from skillopt_sleep.settings import PROJECT_FILE, Resolved, Settings, resolve


def resolved(
    tmp_path: Path, *, user: str = "", project: str = "", environ: dict[str, str] | None = None, **flags: Any
) -> Resolved:
    user_file = tmp_path / "config.toml"
    user_file.write_text(user, encoding="utf-8")
    folder = tmp_path / "project"
    folder.mkdir(exist_ok=True)
    (folder / PROJECT_FILE).write_text(project, encoding="utf-8")
    return resolve(user_file=user_file, project=folder, environ=environ or {}, flags=flags)


def test_without_any_layer_every_value_is_a_default(tmp_path: Path) -> None:
    found = resolve(user_file=tmp_path / "missing.toml", project=None, environ={}, flags={})
    assert found.settings == Settings()
    assert set(found.origins.values()) == {"default"}
    assert set(found.origins) == set(Settings.model_fields)


def test_a_later_layer_wins_and_every_value_knows_its_origin(tmp_path: Path) -> None:
    found = resolved(
        tmp_path,
        user="edit_budget = 1\nsamples = 1\nslots = 1\nalpha = 0.01",
        project="edit_budget = 2\nsamples = 2",
        environ={"SKILLOPT_SLEEP_EDIT_BUDGET": "3", "SKILLOPT_SLEEP_HOME": "/not/an/option"},
        edit_budget=4,
    )
    values = found.settings
    assert (values.edit_budget, values.samples, values.slots, values.alpha) == (4, 2, 1, 0.01)
    assert found.origins["edit_budget"] == "flag --edit-budget"
    assert found.origins["samples"] == f"project file {tmp_path / 'project' / PROJECT_FILE}"
    assert found.origins["alpha"] == f"user file {tmp_path / 'config.toml'}"
    assert found.origins["metric"] == "default"


@pytest.mark.parametrize(
    "line", ['gate = "off"', 'target_model = "sim:mid"', "alpha = 0.9", "max_calls = 9", 'claude_home = "/x"']
)
def test_a_project_may_not_choose_models_caps_folders_or_how_sure_is_sure(tmp_path: Path, line: str) -> None:
    name = line.partition(" ")[0]
    with pytest.raises(UsageError, match=f"sets '{name}', which a project may not decide"):
        resolved(tmp_path, project=line)


def test_an_unknown_setting_names_the_nearest_one_and_where_it_stands(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'edit_budget'") as caught:
        resolved(tmp_path, user="edit_bugdet = 3")
    assert str(tmp_path / "config.toml") in caught.value.hint


@pytest.mark.parametrize(
    ("layers", "where"),
    [
        ({"user": "samples = 0"}, "user file"),
        ({"project": 'samples = "many"'}, "project file"),
        ({"environ": {"SKILLOPT_SLEEP_SAMPLES": "x"}}, "environment SKILLOPT_SLEEP_SAMPLES"),
        ({"samples": 99}, "flag --samples"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_its_origin(
    tmp_path: Path, layers: dict[str, Any], where: str
) -> None:
    with pytest.raises(UsageError, match=f"samples should be .*{where}"):
        resolved(tmp_path, **layers)


def test_a_file_that_is_not_toml_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"config\.toml is not valid TOML"):
        resolved(tmp_path, user="samples = = 3")


def test_a_settings_path_that_is_a_folder_is_an_error_for_people(tmp_path: Path) -> None:
    with pytest.raises(SleepError, match="cannot be read"):
        resolve(user_file=tmp_path, project=None, environ={}, flags={})

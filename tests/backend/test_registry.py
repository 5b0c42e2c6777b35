from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from skillopt_sleep.backend import get_backend
from skillopt_sleep.backend.registry import BACKENDS, Factory, Options, build
from skillopt_sleep.backend.scripted import ScriptedModel
from skillopt_sleep.domain.errors import InputError, UnknownName, UsageError
from skillopt_sleep.domain.ports import Model
from tests.backend.fakes import ask


def scripted_factory(_model: str | None, options: Options) -> Model:
    return ScriptedModel(["hello"], model_id=f"custom#{options.seed}")


_STRING = "tests.backend.test_registry:scripted_factory"


@pytest.mark.parametrize("spec", ["sim:weak", "sim:mid", "sim:strong", "template"])
def test_a_spec_names_a_model_whose_id_says_the_same(spec: str) -> None:
    assert build(spec).id == spec


def test_a_seed_shows_in_the_id_because_it_changes_every_reply() -> None:
    assert build("sim:mid", Options(seed=7)).id != build("sim:mid").id


@pytest.mark.parametrize(
    ("spec", "nearest"), [("simm", "sim"), ("templat", "template"), ("sim:stong", "strong"), ("scriptd:x", "scripted")]
)
def test_an_unknown_name_is_refused_with_the_nearest_one(spec: str, nearest: str) -> None:
    with pytest.raises(UnknownName) as caught:
        build(spec)
    assert caught.value.nearest == nearest


def test_a_backend_that_does_not_exist_yet_is_unknown_and_the_known_ones_are_listed() -> None:
    with pytest.raises(UnknownName, match=r"Known: anthropic, .*scripted, sim, template"):
        get_backend("telepathy", "some-model")


def test_code_to_load_is_accepted_only_from_someone_trusted() -> None:
    with pytest.raises(UsageError, match="not accepted here"):
        build(_STRING)
    assert build(_STRING, Options(seed=3), trusted=True).id == "custom#3"


@pytest.mark.parametrize("reference", ["no.such_module:thing", "skillopt_sleep.domain:nothing", "os.path:sep", "a.b"])
def test_code_that_cannot_be_loaded_is_a_usage_error(reference: str) -> None:
    with pytest.raises(UsageError):
        build(reference, trusted=True)


def test_the_registry_can_be_extended_by_whoever_calls() -> None:
    assert build("mine", backends={**BACKENDS, "mine": _STRING}).id == "custom#0"


def test_every_registered_backend_can_be_loaded() -> None:
    from skillopt_sleep.backend.registry import load

    factories: list[Factory] = [load(reference) for reference in BACKENDS.values()]
    assert all(callable(factory) for factory in factories)


def test_a_script_comes_from_a_file(tmp_path: Path) -> None:
    script = tmp_path / "replies.json"
    script.write_text(json.dumps(["one", "two"]), encoding="utf-8")
    assert anyio.run(build(f"scripted:{script}").generate, ask()).text == "one"


@pytest.mark.parametrize("content", ["{}", "not json", "[1]"])
def test_a_script_of_another_shape_is_refused(tmp_path: Path, content: str) -> None:
    script = tmp_path / "replies.json"
    script.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"replies\.json"):
        build(f"scripted:{script}")


@pytest.mark.parametrize("spec", ["scripted", "scripted:/no/such/file.json"])
def test_a_missing_script_is_refused(spec: str) -> None:
    with pytest.raises(InputError):
        build(spec)


def test_the_front_door_counts_what_is_spent() -> None:
    backend = get_backend("sim", model="strong")
    assert (backend.id, backend.calls_made(), backend.tokens_used()) == ("sim:strong", 0, 0)
    reply = anyio.run(backend.model.generate, ask("Write a note about tea."))
    assert (backend.calls_made(), backend.tokens_used()) == (1, reply.usage.total)


def test_two_models_in_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="another"):
        get_backend("sim:weak", "strong")

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.domain.slices import KnownFamily
from skillopt_sleep.mine.families import DatedText, assign_families
from tests.mine.builders import START


def families_of(*texts: str) -> list[KnownFamily]:
    placed, _ = assign_families([DatedText(START, text) for text in texts])
    return list(placed)


@pytest.mark.parametrize(
    "wording",
    [
        "please write the release notes for the login form",
        "Could you write the release notes for the new login form for me?",
        "hi, can you please quickly write release notes for our login form, thanks",
        "For the login form, write the release notes",
        "draft the release notes for the login forms",
        "Write the relase notes for the login form again",
    ],
)
def test_a_rewording_that_changes_only_filler_joins_the_family(wording: str) -> None:
    original, reworded = families_of("write the release notes for the login form", wording)
    assert reworded == original


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("write the release notes for the login form", "write the release notes for the signup form"),
        ("write the release notes for version 4.1", "write the release notes for version 4.2"),
        ("write a letter to customer A", "write a letter to customer B"),
        ("explain how to encrypt the archive", "explain how to decrypt the archive"),
        ("write the notes without the price table", "write the notes with the price table"),
        ("draft a reply to ticket ACC-4471", "draft a reply to ticket ACC-4472"),
        ("写登录表单的发布说明", "写注册表单的发布说明"),
        ("ログインフォームのリリースノートを書いて", "サインアップフォームのリリースノートを書いて"),
        ("écris le message de commit pour la page de connexion", "écris le message de commit pour la page de paiement"),
    ],
)
def test_another_concrete_thing_is_another_family_of_the_same_group(one: str, other: str) -> None:
    first, second = families_of(one, other)
    assert first.id != second.id
    assert first.group == second.group


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("请帮我写一份登录表单的发布说明", "写登录表单的发布说明"),
        ("ログインフォームのリリースノートを書いてください", "ログインフォームのリリースノートを書いて"),
        ("Schreibe bitte die Release Notes für das Login-Formular", "schreib die Release Notes für das Login-Formular"),
        ("escribe por favor un resumen del informe anual", "escribe un resumen del informe anual"),
        ("Напиши, пожалуйста, описание релиза для формы входа", "напиши описание релиза для новой формы входа"),
    ],
)
def test_politeness_is_filler_in_other_languages_too(one: str, other: str) -> None:
    first, second = families_of(one, other)
    assert first == second


def test_different_intents_about_one_thing_are_different_groups() -> None:
    notes, commit = families_of(
        "write the release notes for the login form", "write a commit message for the login form"
    )
    assert (notes.group, commit.group) == ("write release notes", "write commit message")


def test_two_near_copies_of_a_long_prompt_share_a_family() -> None:
    body = " ".join(f"topic{letter * 3}" for letter in "abcdefghijklmnopqrstuvwxyzäöü")
    first, second = families_of(f"summarise these minutes: {body} budget", f"summarise these minutes: {body} finance")
    assert first == second


def test_known_families_are_matched_first_and_keep_their_place_in_the_book() -> None:
    known = (
        KnownFamily(id="fam-old", leader="write release notes login form", group="notes of a release"),
        KnownFamily(id="fam-gone", leader="write haiku spring", group="write haiku"),
    )
    prompts = [
        DatedText(START, "please write release notes for the login form"),
        DatedText(START, "write a haiku about rain"),
    ]
    (notes, haiku), book = assign_families(prompts, known)
    assert notes == known[0]
    assert haiku.group == "write haiku"
    assert book == (*known, haiku)


VERBS = st.sampled_from(["write the release notes for", "please draft the release notes for", "explain how to test"])
THINGS = st.sampled_from(
    ["the login form", "our login form", "the signup form", "login", "forms", "ACC-1", "表单", "the page of the form"]
)
PROMPTS = st.lists(
    st.builds(
        lambda verb, thing, day: DatedText(START + timedelta(days=day), f"{verb} {thing}"),
        VERBS,
        THINGS,
        st.integers(0, 3),
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(prompts=PROMPTS, seed=st.randoms(use_true_random=False))
def test_the_order_of_prompts_does_not_matter(prompts: list[DatedText], seed: object) -> None:
    shuffled = list(prompts)
    seed.shuffle(shuffled)  # type: ignore[attr-defined]
    one, book = assign_families(prompts)
    other, shuffled_book = assign_families(shuffled)
    assert book == shuffled_book
    assert sorted((p.at, p.text, f.id) for p, f in zip(prompts, one, strict=True)) == sorted(
        (p.at, p.text, f.id) for p, f in zip(shuffled, other, strict=True)
    )


@settings(max_examples=60, deadline=None)
@given(first=PROMPTS, later=PROMPTS)
def test_a_prompt_keeps_its_family_when_others_vanish_or_come(first: list[DatedText], later: list[DatedText]) -> None:
    before, book = assign_families(first)
    kept = first[::2]
    after, grown = assign_families([*later, *kept], book)
    assert after[len(later) :] == before[::2]
    assert grown[: len(book)] == book
    assert len({family.id for family in grown}) == len(grown)


@settings(max_examples=80, deadline=None)
@given(text=st.text(max_size=80))
def test_any_text_has_a_family_and_repeats_into_it(text: str) -> None:
    first, second = families_of(text, text)
    assert first == second
    assert assign_families([DatedText(START, text)], [first])[0] == (first,)

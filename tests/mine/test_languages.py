from __future__ import annotations

import pytest

from skillopt_sleep.mine.corrections import TurnKind, read_turn
from skillopt_sleep.mine.grammar import read_checks
from tests.mine.languages import TURNS

LABELLED = [
    (language, kind, text) for language, kinds in TURNS.items() for kind, texts in kinds.items() for text in texts
]


@pytest.mark.parametrize(("language", "kind", "text"), LABELLED)
def test_a_turn_is_read_as_what_its_person_meant_in_each_language(language: str, kind: TurnKind, text: str) -> None:
    assert read_turn(text, follows_reply=True) == kind


@pytest.mark.parametrize("text", [text for _, kind, text in LABELLED if kind == "correction"])
def test_nothing_corrects_what_was_not_answered_yet(text: str) -> None:
    assert read_turn(text, follows_reply=False) != "correction"


@pytest.mark.parametrize(
    ("text", "check"),
    [
        ('Always end with "Done."', ("ends_with", "Done.")),
        ("Höchstens 80 Wörter.", ("max_words", 80)),
        ('Verwende nie das Wort "leider".', ("not_contains", "leider")),
        ('Schreibe immer eine Überschrift "Risiken".', ("section_present", "Risiken")),
        ("Antworte nur mit JSON.", ("json_valid", None)),
        ('No uses la palabra "quizás".', ("not_contains", "quizás")),
        ('Termina siempre con "Fin."', ("ends_with", "Fin.")),
        ('Commence toujours par "Résumé".', ("starts_with", "Résumé")),
        ("50 mots maximum.", ("max_words", 50)),
        ('Sempre comece com "Resumo".', ("starts_with", "Resumo")),
        ("No máximo 50 palavras.", ("max_words", 50)),
        ('Всегда начинай с "Итог".', ("starts_with", "Итог")),
        ('Никогда не используй слово "возможно".', ("not_contains", "возможно")),
        ("每次都以“总结”开头。", ("starts_with", "总结")),
        ("最多50个字。", ("max_chars", 50)),
        ("不要用“可能”这个词。", ("not_contains", "可能")),
        ("必ず「要約」という見出しを付けてください。", ("section_present", "要約")),
        ("「多分」という言葉は使わないでください。", ("not_contains", "多分")),
    ],
)
def test_a_correction_becomes_a_check_in_each_language(text: str, check: tuple[str, object]) -> None:
    assert [(found.op, getattr(found, "arg", None)) for found in read_checks(text)] == [check]


@pytest.mark.parametrize(
    "text",
    [
        'It should not be that hard to include "Risks".',
        "Ich wollte das anders.",
        "もっと良くしてください。",
    ],
)
def test_wording_that_is_not_understood_gives_no_check(text: str) -> None:
    assert read_checks(text) == ()

"""How replies are read: headings, words, JSON, refusals."""

import pytest

from skillopt_sleep.judges.json_reply import NotJson, read_json
from skillopt_sleep.judges.markdown import headings
from skillopt_sleep.judges.refusals import is_bare_refusal
from skillopt_sleep.judges.words import count_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Results", ["Results"]),
        ("   ### Results ###  ", ["Results"]),
        ("Results\n=======\n\nNext\n---", ["Results", "Next"]),
        ("Intro\r\n\r\n## Results\r\n", ["Results"]),
        ("## **Key** `risks`\tnow", ["Key risks now"]),
        ("1. ## Results", ["Results"]),
        ("#Results", []),
        ("#hashtag and ####### seven", []),
        ("\\# Results", []),
        ("    ## Results", []),
        ("> ## Results", []),
        ("```\n## Results\n```", []),
        ("````md\n```\n## Results\n```\n````\n## Real", ["Real"]),
        ("~~~\n## Results\n```\n## Results\n~~~\n## Real", ["Real"]),
        ("  ```sh\n  # Results\n  ```\n## Real", ["Real"]),
        ("- step\n\n      ```sh\n      # Results\n      ```\n", []),
        ("- ```sh\n  # Results\n  ```\n", []),
        ("```\n## Results, and the fence never ends", []),
        ("<!--\n## Results\n-->", []),
        ("| Results |\n| ------- |", []),
        ("Mentions Results\n\n---", []),
    ],
)
def test_headings_are_what_markdown_says_they_are(text: str, expected: list[str]) -> None:
    assert list(headings(text)) == expected


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("don't e-mail 3.5 times", 4),
        ("- one\n* two\n| three |", 3),
        ("word—word – word", 3),
        ("👍 ok", 1),
        ("我们明天见。", 5),
        ("今日はGitHubを見る", 7),
        ("내일 만나요", 2),
        ("Привет, мир!", 2),
    ],
)
def test_words_are_counted_in_any_script(text: str, count: int) -> None:
    assert count_words(text) == count


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (' {"a": [1, null]} \n', {"a": [1, None]}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ("~~~\n7\n~~~", 7),
        ('\ufeff"text"', "text"),
    ],
)
def test_json_is_the_whole_reply_or_its_one_fenced_block(text: str, value: object) -> None:
    assert read_json(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Sure:\n```json\n{}\n```",
        "```json\n{}\n```\n```json\n{}\n```",
        '{"a": 1, "a": 2}',
        '{"a": NaN}',
        "-Infinity",
        '{"a": 1} {"b": 2}',
        "{'a': 1}",
        '{"a": 1,}',
        "[" * 100_000,
    ],
)
def test_what_other_readers_would_refuse_is_not_json(text: str) -> None:
    with pytest.raises(NotJson):
        read_json(text)


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I’m unable to assist with this request.",
        "I cannot comply. This goes against my guidelines.",
        "As an AI language model, I won't be able to provide that. Is there anything else?",
        "I can't.",
        "I'm sorry, but I can't help with that, but I can help with something else.",
        "Das kann ich leider nicht beantworten. Dabei kann ich nicht helfen.",
        "Je suis désolé, je ne peux pas vous aider avec cela.",
        "Lo siento, no puedo ayudar con eso.",
        "Desculpe, não posso ajudar com isso.",
        "Mi dispiace, non posso aiutarti.",
        "Sorry, daar kan ik je niet mee helpen.",
        "Przykro mi, nie mogę w tym pomóc.",
        "К сожалению, я не могу помочь с этим.",
        "抱歉，我无法提供帮助。",
        "申し訳ありませんが、お手伝いできません。",
        "죄송하지만 도와드릴 수 없습니다.",
    ],
)
def test_a_bare_refusal_is_told_in_many_languages(text: str) -> None:
    assert is_bare_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "Otters hold hands.",
        "I can't find a bug: the loop ends where it should.",
        "I can't open the file, but here is a script that does it.",
        "Unfortunately the deploy failed because the token had expired.",
        "I can't help with the first part. The second part is simple: use a queue and acknowledge late.",
        "I cannot do that without the logs. Steps:\n- collect them\n- send them",
        "You can't divide by zero.",
        "I can't find anything that would help.",
        "Sorry for the delay! The meeting is on Tuesday.",
        "I can't answer every point. " + "The plan has merit and should go ahead in spring. " * 3,
        "我们不能在周五之前完成部署，因为测试还没有结束。",
        "x" * 1000 + " I can't help with that.",
    ],
)
def test_an_answer_is_never_taken_for_a_bare_refusal(text: str) -> None:
    assert not is_bare_refusal(text)

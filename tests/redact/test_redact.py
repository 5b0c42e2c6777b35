from __future__ import annotations

import json
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_sleep.redact import KINDS, redact
from tests.redact.ordinary import ORDINARY
from tests.redact.secrets import IN_CONTEXT, TOKENS, Sample, made_up

SURROUNDINGS = {
    "prose": "I used {} for the deploy yesterday.",
    "code": 'client = Client("{}", timeout=3)',
    "json": '{{"value": "{}", "next": 1}}',
    "json in json": '{{\\"value\\": \\"{}\\", \\"next\\": 1}}',
    "after an escaped line break": "first\\n{}\\nlast",
    "env": "export VALUE={}\nNEXT=1",
    "url": "https://example.com/?a=1&v={}&b=2",
    "cjk": "请使用{}谢谢",
}


@pytest.mark.parametrize("where", SURROUNDINGS)
@pytest.mark.parametrize(("kind", "secret"), TOKENS, ids=[f"{kind}-{n}" for n, (kind, _) in enumerate(TOKENS)])
def test_a_token_is_masked_wherever_it_stands_and_its_surroundings_are_kept(kind: str, secret: str, where: str) -> None:
    before, after = SURROUNDINGS[where].format("\0").split("\0")
    masked, counts = redact(f"{before}{secret}{after}")
    assert masked == f"{before}[masked:{kind}]{after}"
    assert counts == {kind: 1}


@pytest.mark.parametrize("sample", IN_CONTEXT, ids=[f"{sample.kind}-{n}" for n, sample in enumerate(IN_CONTEXT)])
def test_a_secret_known_by_its_context_is_masked_and_the_context_is_kept(sample: Sample) -> None:
    masked, counts = redact(sample.text)
    assert masked == f"{sample.before}[masked:{sample.kind}]{sample.after}"
    assert counts == {sample.kind: 1}


def test_the_samples_cover_every_kind_that_the_table_knows() -> None:
    sampled = {kind for kind, _ in TOKENS} | {sample.kind for sample in IN_CONTEXT}
    assert {kind.name for kind in KINDS} == sampled


def test_an_env_file_loses_every_value_and_keeps_every_name() -> None:
    values = {
        "OPENAI_API_KEY": "sk" + "-" + made_up(48),
        "DB_PASSWORD": "pa55-word",
        "SESSION_SECRET": "abcdef",
        "GITHUB_TOKEN": "gh" + "p_" + made_up(36),
    }
    masked, counts = redact("PORT=8080\n" + "".join(f"{name}={value}\n" for name, value in values.items()))
    assert [line.partition("=")[0] for line in masked.splitlines()] == ["PORT", *values]
    assert not any(value in masked for value in values.values())
    assert sum(counts.values()) == len(values)


def test_a_token_that_a_terminal_folded_is_masked_to_its_end_and_the_line_after_an_unfolded_one_is_kept() -> None:
    token = ".".join(("ey" + "J" + made_up(33), "ey" + "J" + made_up(200), made_up(86)))
    folded = "\n".join(token[at : at + 76] for at in range(0, len(token), 76))
    assert redact(f"token below\n{folded}")[0].startswith("token below\n[masked:jwt]")
    assert not any(token[at : at + 40] in redact(folded)[0] for at in range(len(token) - 40))
    request = "550e8400-e29b-41d4-a716-446655440000"
    assert redact(f"{token}\n{request}")[0] == f"[masked:jwt]\n{request}"


FOLDED = {
    "by a terminal": "It prints\n{0}\n{1}\n{2}\nand stops.",
    "with a margin": "Token:\n    {0}\n    {1}\n    {2}\n\nWhat now?",
    "in a quoted mail": "> see\n> {0}\n> {1}\n> {2}\n> bye now",
    "in a diff": "+a = b\n+{0}\n+{1}\n+{2}\n+c = d",
    "in a listing": "     1\t{0}\n     2\t{1}\n     3\t{2}\n     4\tc = d",
    "by backslashes": "curl x?v={0}\\\n{1}\\\n{2}\n",
    "as adjacent literals": 'v = (\n    "{0}"\n    "{1}"\n    "{2}"\n)',
    "as added literals": "v = '{0}' + '{1}' +\n  '{2}';",
    "in JSON": '{{"text": "see\\n{0}\\n{1}\\n{2}\\nand stop."}}',
}


@pytest.mark.parametrize("how", FOLDED)
def test_a_token_broken_over_lines_is_masked_to_its_end(how: str) -> None:
    for secret in (secret for kind, secret in TOKENS if kind != "jwt"):
        middle = (16 + len(secret)) // 2 if len(secret) > 30 else len(secret)
        masked, _ = redact(FOLDED[how].format(secret[:16], secret[16:middle], secret[middle:]))
        assert not any(secret[at : at + 8] in masked for at in range(4, len(secret) - 8)), secret


def test_what_is_percent_encoded_or_escaped_is_masked_with_its_escapes_and_nothing_else() -> None:
    assert redact("body=user%3Dann%26password%3Dhunter2x%26next%3D1")[0] == (
        "body=user%3Dann%26password%3D[masked:password]%26next%3D1"
    )
    assert redact(json.dumps("密码：hunter2x。完"))[0] == json.dumps("密码：[masked:password]。完")
    assert redact(json.dumps(json.dumps({"пароль": "hunter2x"})))[0] == json.dumps(
        json.dumps({"пароль": "[masked:password]"})
    )


def test_a_word_or_an_identifier_on_the_line_after_a_token_is_kept() -> None:
    token = dict(TOKENS)["github_token"]
    for after in ("done", "550e8400-e29b-41d4-a716-446655440000", "--verbose", "Now it works: 42"):
        assert redact(f"{token}\n{after}")[0] == f"[masked:github_token]\n{after}"


@pytest.mark.parametrize(
    "text",
    [
        "password: string;",
        "password: please choose one with 8 characters",
        'label: "password", placeholder: "Enter your password (8+ characters)"',
        "password = getpass.getpass()",
        "password=args.password",
        "PASSWORD=${DB_PASSWORD}",
        "DB_PASSWORD=$DB_PASSWORD",
        "Authorization: Bearer ${TOKEN}",
        "Authorization: Bearer <your-token>",
        "a bearer of bad news, bearer authentication",
        "Basic understanding of algebra",
        "max_tokens: 4096, total_tokens=123456",
        "token = tokenizer.next_token()",
        "secretary: Annabelle",
        "api_key: YOUR_API_KEY",
        "https://user:${PASSWORD}@host/path",
        "http://localhost:3000/@scope/package",
        "the tokenizer is bert-base-uncased",
        "risk-management and task-1234567890-abc",
        '"-----BEGIN PRIVATE KEY-----" and "-----END PRIVATE KEY-----" are the borders',
        "design=modern&sig=f(x)",
        "password: ********",
    ],
)
def test_a_near_miss_is_kept(text: str) -> None:
    assert redact(text) == (text, {})


@pytest.mark.parametrize("name", ORDINARY)
def test_at_most_one_in_two_hundred_ordinary_tokens_is_masked(name: str) -> None:
    text = ORDINARY[name]
    _, counts = redact(text)
    assert sum(counts.values()) <= 0.005 * len(re.findall(r"\S+", text))


_FRAGMENTS = st.sampled_from(
    [
        *(secret for _, secret in TOKENS),
        *(sample.text for sample in IN_CONTEXT),
        *(sample.before for sample in IN_CONTEXT),
        *" \n\t\"'\\:=;@&?#-_.[](){}",
        "[masked:jwt]",
        "password",
        "token=",
        "Bearer ",
        "\u0130",
        "\ud800",
        "ß",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(_FRAGMENTS | st.text(max_size=8), max_size=12).map("".join))
def test_masking_masked_text_changes_nothing(text: str) -> None:
    masked, _ = redact(text)
    assert redact(masked) == (masked, {})


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(TOKENS), st.text(st.characters(categories=["Lo", "Po", "Zs"]), max_size=30))
def test_text_around_a_token_survives_character_for_character(token: tuple[str, str], around: str) -> None:
    before, after = f"{around} ", f" {around}"
    assert redact(f"{before}{token[1]}{after}")[0] == f"{before}[masked:{token[0]}]{after}"


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(TOKENS), st.integers(min_value=1, max_value=3))
def test_json_stays_json_however_deep_the_secret_lies(token: tuple[str, str], depth: int) -> None:
    value: object = {"password": "hunter2x", "token": token[1], "note": "keep me"}
    for _ in range(depth):
        value = {"body": json.dumps(value)}
    masked, _ = redact(json.dumps(value))
    inner = json.loads(masked)
    for _ in range(depth):
        inner = json.loads(inner["body"])
    assert inner == {"password": "[masked:password]", "token": f"[masked:{token[0]}]", "note": "keep me"}


@pytest.mark.parametrize(
    "unit",
    [
        "password=",
        'token=\\"',
        "token_",
        "token.x(",
        "authorization:",
        "cookie=a=",
        "eyJ",
        "eyJaaaaaaaa.a\na\n",
        "-----BEGIN " + "PRIVATE KEY-----",
        "://a:",
        "sk-",
        "SG.aaaaaaaaaaaaaaaa",
        "secret: str = ",
        "abcdefghijklmnop1\n",
        'abcdefghijklmnop1" "',
        "%41",
        "\\\\n1",
        "password for the ",
        "mysql -u a",
        "\\",
    ],
)
def test_text_made_to_make_patterns_rescan_takes_time_in_proportion_to_its_length(unit: str) -> None:
    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        begun = time.process_time()
        redact(text)
        return time.process_time() - begun

    seconds(2_000)  # compiles the patterns
    # Eight times the text: quadratic work would take 64 times as long; the slack is for a busy machine.
    assert seconds(160_000) < 24 * max(seconds(20_000), 0.005)

"""How fast past sessions are read, in how much memory, and how many of the human prompts in them are found.

    python -m benchmarks.harvest [--megabytes 220] [--huge]

Generates transcripts of the shape that Claude Code 2.1 writes (a session of one turn weighs 145 KB, of which 1 % is a
person's), in a folder that is removed afterwards, and compares with reading every line and parsing it with `json`.
CPU seconds, the least of several runs; each run is a process of its own.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from skillopt_sleep.domain.sessions import OWN_CALL_MARKER

START = datetime(2026, 11, 1, 9, 0, tzinfo=UTC)
WORDS = (
    "the order total is wrong when a coupon applies to one line only so look at how discounts are added and why the "
    'tests did not see it `price` "quoted" C:\\path and then write a note for the release'
).split()
OTHER_WORDS = "注文 の 合計 が 違う Größe naïve coûte año цена 🙂 price total".split()


def prose(rng: random.Random, size: int) -> str:
    """Words; every seventh text has some of other scripts, which makes the whole text take more memory and time."""
    words: list[str] = []
    known = WORDS + OTHER_WORDS if rng.random() < 1 / 7 else WORDS
    length = 0
    while length < size:
        word = rng.choice(known)
        words.append(word if len(words) % 17 else word + "\n")
        length += len(word) + 1
    return " ".join(words)[:size]


class Bulk:
    """Long texts of the client's, made once: what is measured is reading, not writing."""

    def __init__(self, rng: random.Random) -> None:
        self._text = prose(rng, 100_000) + prose(rng, 100_000)
        self._rng = rng

    def __call__(self, size: int) -> str:
        start = self._rng.randrange(0, max(1, len(self._text) - size))
        return self._text[start : start + size]


@dataclass
class Corpus:
    """Transcripts below `root`, and what a person typed in them."""

    root: Path
    tool_share: float
    rng: random.Random = field(default_factory=lambda: random.Random(7))
    prompts: list[tuple[str, str]] = field(default_factory=list)
    """Session and text of each human prompt of the sessions that a harvest should find."""
    size: int = 0
    tool_bytes: int = 0

    def __post_init__(self) -> None:
        self.bulk = Bulk(self.rng)

    def fill(self, megabytes: float) -> None:
        number = 0
        while self.size < megabytes * 1e6:
            kind = ("person",) * 7 + ("headless", "own", "sidechain")
            self.session(number, kind[number % len(kind)])
            number += 1

    def session(self, number: int, kind: str) -> None:
        writer = Writer(self, number, kind)
        writer.opening()
        for _ in range(self.rng.choice((1, 1, 1, 2, 2, 3))):
            writer.turn()
        path = self.root / "projects" / re.sub(r"\W", "-", writer.cwd) / f"{writer.id}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        data = "".join(writer.lines).encode()
        path.write_bytes(data)
        self.size += len(data)
        if kind == "person":
            self.prompts += [(writer.id, text) for text in writer.typed]


class Writer:
    """One session."""

    def __init__(self, corpus: Corpus, number: int, kind: str) -> None:
        self.corpus, self.kind = corpus, kind
        self.rng, self.bulk = corpus.rng, corpus.bulk
        self.id = str(uuid.UUID(int=self.rng.getrandbits(128), version=4))
        self.cwd = f"/home/ann/project-{number % 5}"
        self.now = START + timedelta(minutes=number * 7)
        self.lines: list[str] = []
        self.typed: list[str] = []
        self.program = kind in ("headless", "own")
        self.last: str | None = None
        self.turns = 0

    # Rows -------------------------------------------------------------------------------------------------------------

    def raw(self, row: dict[str, Any]) -> int:
        line = json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"
        self.lines.append(line)
        return len(line)

    def id_(self) -> str:
        return str(uuid.UUID(int=self.rng.getrandbits(128), version=4))

    def row(self, kind: str, head: dict[str, Any], **tail: Any) -> int:
        self.now += timedelta(seconds=self.rng.randrange(1, 20))
        here = self.id_()
        first: dict[str, Any] = {"parentUuid": self.last, "isSidechain": self.kind == "sidechain"}
        if kind == "user":
            first |= {"promptId": self.id_(), "type": "user", **head}
        else:
            first |= {**head, "type": kind}
        self.last = here
        rest = {"uuid": here, "timestamp": self.now.strftime("%Y-%m-%dT%H:%M:%S.000Z"), **tail, "userType": "external"}
        rest |= {"entrypoint": "sdk-cli" if self.program else "cli", "cwd": self.cwd, "sessionId": self.id}
        return self.raw(first | rest | {"version": "2.1.332", "gitBranch": "main"})

    def attachment(self, kind: str, size: int, **more: Any) -> None:
        half = self.bulk(size // 2)
        content = {"type": kind, "content": half, **more}
        self.row("attachment", {"attachment": content}, rendered=[{"content": half}], renderedRole="system")

    def user(self, content: Any, **tail: Any) -> int:
        return self.row("user", {"message": {"role": "user", "content": content}}, **tail)

    def opening(self) -> None:
        self.raw({"type": "mode", "mode": "normal", "sessionId": self.id})
        self.raw({"type": "queue-operation", "operation": "enqueue", "content": "NOT A PROMPT", "sessionId": self.id})

    # Turns ------------------------------------------------------------------------------------------------------------

    def turn(self) -> None:
        self.turns += 1
        if self.rng.random() < 0.15:
            self.command()
        self.prompt()
        if self.turns == 1:
            self.surroundings()
        for _ in range(self.rng.choice((0, 0, 1, 2))):
            self.tool_use()
        self.assistant([{"type": "text", "text": prose(self.rng, self.rng.randrange(100, 900))}])
        self.not_by_a_person()
        self.raw({"type": "last-prompt", "lastPrompt": "NOT A PROMPT", "leafUuid": self.last, "sessionId": self.id})

    def prompt(self) -> None:
        text = prose(self.rng, self.rng.randrange(20, 400)).strip() + f" #{self.rng.randrange(10**6)}"
        if self.kind == "own":
            text = f"{OWN_CALL_MARKER}\n{text}"
        by = (
            {"promptSource": "sdk", "turnOrigin": "sdk"}
            if self.program
            else {"origin": {"kind": "human"}, "promptSource": "typed", "turnOrigin": "human"}
        )
        if self.kind == "person" and self.turns > 1 and self.rng.random() < 0.1:
            queued = {"type": "queued_command", "prompt": text, "source_uuid": self.id_(), "commandMode": "prompt"}
            self.row("attachment", {"attachment": queued | {"origin": {"kind": "human"}}})
        else:
            content = text if self.rng.random() < 0.7 else [{"type": "text", "text": text}]
            self.user(content, permissionMode="default", **by)
        self.typed.append(text)

    def surroundings(self) -> None:
        for kind, size in (("environment", 1_400), ("skill_listing", 13_600), ("agent_listing_delta", 5_000)):
            self.attachment(kind, size)
        self.attachment("prompt_snapshot", 7_500)
        shape = {"system": [{"type": "text", "text": self.bulk(8_000)}], "tools": self.tools(12)}
        self.raw({"type": "api-request-shape", "sessionId": self.id, "shapeHash": self.id_(), "shape": shape})
        for size in (1_400, 9_400):
            message = {"role": "user", "content": [{"type": "text", "text": self.bulk(size)}]}
            self.raw({"type": "api-request-blob", "sessionId": self.id, "hash": self.id_(), "message": message})
        self.attachment("prompt_snapshot", 18_000, tools=self.tools(15))

    def tools(self, count: int) -> list[dict[str, Any]]:
        """Descriptions of tools, of about 2.6 KB and 24 keys each: what the client sends with every request."""
        return [
            {
                "name": f"Tool{number}",
                "description": self.bulk(1_500),
                "input_schema": {
                    "$schema": "https://json-schema.org/draft/2020-12/schema",
                    "type": "object",
                    "properties": {
                        f"field_{n}": {"description": self.bulk(110), "type": "string", "minLength": n}
                        for n in range(4)
                    },
                    "required": ["field_0", "field_1"],
                    "additionalProperties": False,
                },
            }
            for number in range(count)
        ]

    def assistant(self, blocks: list[dict[str, Any]]) -> None:
        self.raw({"type": "api-request", "sessionId": self.id, "params": {"betas": [self.bulk(1_000)]}})
        message = {"id": f"msg_{self.id_()}", "type": "message", "role": "assistant", "model": "m", "content": blocks}
        usage = {"input_tokens": 2711, "cache_read_input_tokens": 9848, "output_tokens": 23, "service_tier": "standard"}
        self.row("assistant", {"message": message | {"stop_reason": "end_turn", "usage": usage}}, madeBy="model")

    def tool_use(self) -> None:
        call = f"toolu_{self.id_()}"
        arguments = {"command": self.bulk(120)}
        self.assistant([{"type": "tool_use", "id": call, "name": "Bash", "input": arguments}])
        size = self.rng.randrange(100, 600)
        corpus = self.corpus
        if corpus.tool_share:
            written = corpus.size + sum(map(len, self.lines))
            size = max(size, int((corpus.tool_share * written - corpus.tool_bytes) / (1 - corpus.tool_share) / 2))
        output = self.bulk(min(size, 150_000))
        result = {"tool_use_id": call, "type": "tool_result", "content": output, "is_error": False}
        corpus.tool_bytes += self.user([result], toolUseResult={"stdout": output, "stderr": ""})

    def command(self) -> None:
        self.user("<command-message>demo</command-message>\n<command-name>/demo</command-name>", turnOrigin="human")
        self.user([{"type": "text", "text": "NOT A PROMPT, the body of a command"}], isMeta=True)

    def not_by_a_person(self) -> None:
        text = f"NOT A PROMPT {self.rng.randrange(10**6)}"
        choice: dict[str, Any] = self.rng.choice(
            (
                {"isMeta": True},
                {"isCompactSummary": True, "isVisibleInTranscriptOnly": True},
                {"promptSource": "system", "turnOrigin": "scheduled", "wakeupSource": "cron"},
                {"origin": {"kind": "task-notification"}, "turnOrigin": "task_notification"},
                {"origin": {"kind": "peer"}, "turnOrigin": "peer"},
                {"promptSource": "suggestion_accepted", "turnOrigin": "unknown"},
                {"rowSource": "harness"},
            )
        )
        if self.rng.random() < 0.4:
            self.user(text, **choice)
        if self.rng.random() < 0.1:
            self.user([{"type": "text", "text": "[Request interrupted by user]"}], rowSource="harness")


# Measuring ------------------------------------------------------------------------------------------------------------


def parse_all(root: Path) -> dict[str, Any]:
    """The yardstick: every line of every file, parsed."""
    rows = 0
    began = time.process_time()
    for path in root.rglob("*.jsonl"):
        with path.open("rb") as stream:
            for line in stream:
                json.loads(line)
                rows += 1
    return {"cpu": time.process_time() - began, "rows": rows, "peak_mb": peak_mb()}


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def unredacted(text: str, /) -> tuple[str, dict[str, int]]:
    return text, {}


def harvest_once(root: Path, state: Path, *, redacting: bool = True) -> dict[str, Any]:
    from skillopt_sleep.domain.sessions import Query
    from skillopt_sleep.harvest import Tally, harvest
    from skillopt_sleep.harvest.claude_code import ClaudeCodeSource
    from skillopt_sleep.redact import REDACTOR_VERSION, redact
    from skillopt_sleep.store import StateHome

    tally = Tally(lambda _: None)
    began, wall = time.process_time(), time.perf_counter()
    source = ClaudeCodeSource(
        root,
        redact=redact if redacting else unredacted,
        events=tally,
        index=StateHome(state).transcripts(),
        redactor_version=REDACTOR_VERSION,
    )
    found = harvest([source], Query(limit=100_000), tally)
    peak = peak_mb()  # of harvesting: the lists below are the benchmark's own
    seconds = {"cpu": time.process_time() - began, "wall": time.perf_counter() - wall}
    prompts = [(s.id, turn.text) for s in found.sessions for turn in s.turns if turn.role == "user"]
    return seconds | {
        "peak_mb": peak,
        "sessions": len(found.sessions),
        "files": found.files,
        "skipped": dict(found.skipped),
        "prompts": prompts,
    }


def in_a_process(task: str, root: Path, state: Path | None = None) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.harvest", "--task", task, "--root", str(root)]
    done = subprocess.run([*command, "--state", str(state or root)], check=True, capture_output=True, text=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def measure(name: str, corpus: Corpus, runs: int) -> None:
    yardsticks: list[dict[str, Any]] = []
    firsts: list[dict[str, Any]] = []
    seconds: list[dict[str, Any]] = []
    bares: list[dict[str, Any]] = []
    for _ in range(runs):
        yardsticks.append(in_a_process("parse", corpus.root))  # in turn, so that all see the machine equally busy
        with tempfile.TemporaryDirectory() as state:
            firsts.append(in_a_process("harvest", corpus.root, Path(state)))
            seconds.append(in_a_process("harvest", corpus.root, Path(state)))
            bares.append(in_a_process("harvest-unredacted", corpus.root, Path(state) / "other"))
    yardstick, first, second, bare = (
        min(rows, key=lambda r: r["cpu"]) for rows in (yardsticks, firsts, seconds, bares)
    )
    truth = Counter((session, text) for session, text in corpus.prompts)
    got = Counter((session, text) for session, text in first["prompts"])
    right = (truth & got).total()
    megabytes = corpus.size / 1e6
    print(f"\n{name}: {megabytes:.0f} MB, {first['files']} files, {corpus.tool_bytes / corpus.size:.0%} tool output")
    print("| what | CPU s | MB per CPU second | times the yardstick | peak MB |")
    print("|---|---|---|---|---|")
    rows = (
        ("every line parsed", yardstick),
        ("first harvest", first),
        ("first harvest without redaction", bare),
        ("second harvest, nothing new", second),
    )
    for label, row in rows:
        speed = megabytes / row["cpu"]
        ratio = yardstick["cpu"] / row["cpu"]
        print(f"| {label} | {row['cpu']:.3f} | {speed:,.0f} | {ratio:.1f} | {row['peak_mb']:.0f} |")
    print(f"second harvest: {second['cpu'] / first['cpu']:.1%} of the first; same sessions: {same(first, second)}")
    print(f"human prompts: precision {right / got.total():.4f}, recall {right / truth.total():.4f} of {truth.total()}")
    print(f"left out: {first['skipped']}")


def same(first: dict[str, Any], second: dict[str, Any]) -> bool:
    return all(first[key] == second[key] for key in ("sessions", "files", "skipped", "prompts"))


def huge_rows() -> Iterator[bytes]:
    """A gigabyte of rows in one file, and one line of fifty megabytes."""
    corpus = Corpus(Path("unused"), tool_share=0.5)
    for number in range(40):
        writer = Writer(corpus, 0, "person")
        writer.opening()
        for _ in range(60):
            writer.turn()
        data = "".join(writer.lines).encode()
        for _ in range(max(1, int(25e6 / len(data)))):
            yield data
        if number == 20:
            yield b'{"type":"attachment","content":"' + b"x" * 50_000_000 + b'"}\n'


def measure_huge(root: Path, state: Path) -> None:
    path = root / "projects" / "p" / "huge.jsonl"
    path.parent.mkdir(parents=True)
    with path.open("wb") as stream:
        for data in huge_rows():
            stream.write(data)
    size = path.stat().st_size / 1e6
    found = in_a_process("harvest", root, state)
    print(
        f"\nOne file of {size:,.0f} MB with a line of 50 MB: {found['cpu']:.1f} CPU s, peak {found['peak_mb']:.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=220)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--huge", action="store_true")
    parser.add_argument("--task", choices=("parse", "harvest", "harvest-unredacted"))
    parser.add_argument("--root", type=Path)
    parser.add_argument("--state", type=Path)
    given = parser.parse_args()
    if given.task:
        if given.task == "parse":
            print(json.dumps(parse_all(given.root)))
        else:
            print(json.dumps(harvest_once(given.root, given.state, redacting=given.task == "harvest")))
        return
    for name, tool_share in (("sessions of the usual shape", 0.0), ("half of it tool output", 0.5)):
        with tempfile.TemporaryDirectory() as folder:
            corpus = Corpus(Path(folder), tool_share)
            corpus.fill(given.megabytes)
            measure(name, corpus, given.runs)
    if given.huge:
        with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as state:
            measure_huge(Path(root), Path(state))


if __name__ == "__main__":
    main()

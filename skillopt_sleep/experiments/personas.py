"""The bundled sessions of the demo: a small shop for tea and biscuits, and the person who runs its software.

    python -m skillopt_sleep.experiments.personas FOLDER     writes them anew

Everything is made up, deterministic, and of the shape that Claude Code writes: one row for each content block, rows of
noise between, a file of a sub-agent, a session that a program started, a line that a crash cut short, and a secret that
nobody should have pasted. Three skills have each a flaw of their own:

    release-notes   a clear house rule is missing, and there are many requests to see it in
    ledger-lookup   each request was corrected with a fact of its own; no rule can help the next one
    standup-note    a clear house rule is missing, but there are too few requests to tell
"""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from skillopt_sleep.store import private_folder, write_atomic

CWD = "/home/sam/shop"
SLUG = "-home-sam-shop"
_BEGINNING = datetime(2026, 11, 2, 8, 30, tzinfo=UTC)
_NAMESPACE = uuid.UUID("5b1f6c1e-6a0c-4d9e-9f57-0f3a54c8d0aa")

SKILLS: Mapping[str, str] = {
    "release-notes": """---
name: release-notes
description: Write release notes for a change in the shop's software. Use when asked for release notes.
---

# Release notes

Write for the people who pack and sell, not for programmers.
Say what changed and why it is good for them. Two or three short paragraphs are enough.
Be friendly. Leave out ticket numbers and names of files.
""",
    "ledger-lookup": """---
name: ledger-lookup
description: Tell which ledger account an expense of the shop is booked on.
---

# Ledger lookup

Answer which account the expense belongs to, in one or two sentences.
Be certain and brief; the bookkeeper copies the answer.
""",
    "standup-note": """---
name: standup-note
description: Turn the day's work into a note for the morning stand-up.
---

# Stand-up note

Write down what was done, what comes next and what is in the way.
Explain the background well, so that everybody can follow.
""",
}

RELEASES = (
    "the new login form",
    "gift wrapping at checkout",
    "the loose-leaf weight calculator",
    "printing shipping labels in one go",
    "the oolong comparison page",
    "saving a basket for later",
    "the biscuit allergy filter",
    "paying by bank transfer",
    "the low-stock warning",
    "faster search for teapots",
    "customer birthdays",
    "the returns desk screen",
    "the wholesale price list",
    "scanning barcodes with a phone",
    "the weekly sales email",
    "pick-up at the counter",
    "splitting a parcel in two",
    "the cake-stand configurator",
    "vouchers with an end date",
    "the Darjeeling tasting calendar",
    "undoing a refund",
    "dark mode for the packing station",
    "address suggestions",
    "the subscription pause button",
    "the kettle warranty register",
    "rounding cash totals",
    "the supplier inbox",
    "tracking numbers in text messages",
    "the jam jar deposit",
    "product photos that zoom",
    "the holiday opening hours banner",
    "sorting orders by courier",
    "the seasonal spice shelf",
    "customs forms for Norway",
    "the loyalty stamp card",
    "a second till at the market stall",
    "the matcha whisk bundle",
    "importing recipes from a spreadsheet",
    "the accessibility checklist",
    "automatic invoice reminders",
    "the porcelain repair request",
    "hiding sold-out blends",
    "the night shift dashboard",
    "sharing a wish list",
    "the cinnamon roll pre-order",
    "blocking suspicious orders",
    "the staff rota export",
    "translated care labels",
)
LEDGER = (
    ("the forklift inspection", "ACC-4471"),
    ("coffee for the warehouse crew", "ACC-2086"),
    ("the shop window repaint", "ACC-7310"),
    ("bubble wrap from the Leeds supplier", "ACC-1955"),
    ("the bookkeeping software licence", "ACC-8842"),
    ("a taxi after the trade fair", "ACC-3127"),
    ("the chimney sweep", "ACC-6604"),
    ("broken cups in the October delivery", "ACC-9013"),
    ("the apprentice's train pass", "ACC-5238"),
    ("flowers for the tenth anniversary", "ACC-2749"),
    ("the fire extinguisher service", "ACC-4180"),
    ("printing the spring catalogue", "ACC-7765"),
    ("parking fines of the van", "ACC-1402"),
    ("the new espresso grinder", "ACC-6931"),
    ("insurance for the market stall", "ACC-3558"),
    ("the translator for Norway", "ACC-8097"),
    ("samples sent to the radio station", "ACC-5614"),
    ("the broken freezer door", "ACC-9322"),
    ("sponsoring the village choir", "ACC-2263"),
    ("the lawyer's letter about the logo", "ACC-7049"),
    ("first aid course fees", "ACC-4895"),
    ("courier surcharge for glass", "ACC-1677"),
    ("the photographer in November", "ACC-6152"),
    ("rent of the second garage", "ACC-3801"),
    ("the pest control visit", "ACC-8436"),
    ("napkins with a misprint", "ACC-5970"),
    ("wages of the holiday helper", "ACC-9584"),
    ("the domain name renewal", "ACC-2317"),
    ("water filter cartridges", "ACC-7428"),
    ("the donation of day-old scones", "ACC-4063"),
    ("the kiln for the pottery evening", "ACC-1239"),
    ("safety shoes in size 47", "ACC-6785"),
    ("the roof gutter repair", "ACC-3916"),
    ("postage for lost loyalty cards", "ACC-8251"),
)
STANDUPS = (
    "the parcel scanner",
    "the tea tasting sign-up",
    "the till migration",
    "the biscuit tin labels",
    "the oven timer",
    "the label printer",
    "the tram delivery",
    "the mailing list",
    "the stock count",
    "the loyalty cards",
    "the fridge alarm",
)

_RELEASE_ASKS = (
    "write the release notes for {}",
    "Please write the release notes for {}.",
    "Can you write the release notes for {}?",
    "write release notes for {} please",
)
_ISSUES = (
    'No. Always add a section headed "Known issues".',
    'That is wrong: you forgot the section called "Known issues" again.',
    'no, there must be a section titled "Known issues" in every one of these',
    'You left out the "Known issues" section. Always include a section headed "Known issues".',
)
_SUMMARY = (
    'Always start with "Summary:".',
    'No, start with "Summary:" like I said.',
    'Next time begin with "Summary:" please, the packers read only that line.',
)
_LEDGER_ASKS = ("Which ledger account is right for {}?", "look up the account for {}")
_LEDGER_NO = ('No, the answer must contain "{}".', 'That is wrong, it must mention "{}".', 'no - include "{}"')
_PRAISE = ("Perfect, thank you!", "great, that reads well", "Nice, sending it to the packers.")


def bundle() -> dict[str, bytes]:
    """Every file of the demo: relative path (with slashes) -> bytes."""
    files = {f"claude/skills/{name}/SKILL.md": text.encode("utf-8") for name, text in SKILLS.items()}
    for number, (name, lines) in enumerate(_sessions()):
        files[f"claude/projects/{SLUG}/{name}.jsonl"] = "".join(lines).encode("utf-8")
        if number == 0:
            files |= _oddities(name)
    return files


def write(folder: Path) -> None:
    """Write the demo's files below `folder`."""
    for name, data in bundle().items():
        path = folder.joinpath(*name.split("/"))
        private_folder(path.parent)
        write_atomic(path, data, mode=0o644)


def _sessions() -> Iterator[tuple[str, list[str]]]:
    """All sessions of the person, in the order of their days."""
    for number, (topic, ask, corrections) in enumerate(_conversations(), start=1):
        skill = ask[0]
        rows = _Rows(f"{skill}/{topic}/{number}", _BEGINNING + timedelta(hours=5.2 * number))
        rows.human(ask[1])
        rows.loads(skill, SKILLS[skill])
        rows.says(f"Here is a first version about {topic}. I kept it friendly and left the details out.")
        for correction in corrections:
            rows.human(correction)
            rows.says(f"You are right, sorry. I have changed it for {topic}.")
        yield rows.session, rows.lines


def _conversations() -> Iterator[tuple[str, tuple[str, str], Sequence[str]]]:
    """(topic, (skill, request), what the person said afterwards)."""
    for n, topic in enumerate(RELEASES):
        said: list[str] = []
        if n % 5 != 4:  # now and then the person has no time to complain
            said.append(_ISSUES[n % len(_ISSUES)])
        if n % 2 == 0:
            said.append(_SUMMARY[n % len(_SUMMARY)])
        yield topic, ("release-notes", _RELEASE_ASKS[n % len(_RELEASE_ASKS)].format(topic)), said or [_PRAISE[n % 3]]
        if n % 9 == 3:  # the same request again on another day, in other words
            again = _RELEASE_ASKS[(n + 1) % len(_RELEASE_ASKS)].format(topic)
            yield topic, ("release-notes", again), [_ISSUES[(n + 1) % len(_ISSUES)]]
    for n, (topic, account) in enumerate(LEDGER):
        correction = _LEDGER_NO[n % len(_LEDGER_NO)].format(account)
        yield topic, ("ledger-lookup", _LEDGER_ASKS[n % len(_LEDGER_ASKS)].format(topic)), [correction]
    for n, topic in enumerate(STANDUPS):
        correction = ("Too long. Keep it under 60 words.", "no, keep it under 60 words please")[n % 2]
        yield topic, ("standup-note", f"write the stand-up note about {topic}"), [correction]


class _Rows:
    """Writes the rows of one session as Claude Code does."""

    def __init__(self, key: str, begin: datetime, *, entrypoint: str = "cli", source: str = "typed") -> None:
        self._key = key
        self._at = begin
        self._entrypoint = entrypoint
        self._source = source
        self._count = 0
        self._parent: str | None = None
        self.session = self._id("session")
        self.lines: list[str] = []
        self._plain({"type": "mode", "mode": "normal"})
        self._plain({"type": "permission-mode", "permissionMode": "auto"})

    def human(self, text: str, **more: Any) -> None:
        """A request that the person typed."""
        self._count += 1
        self._row(
            {
                "type": "user",
                "promptId": self._id("prompt"),
                "message": {"role": "user", "content": text},
                "permissionMode": "auto",
                "promptSource": self._source,
                "turnOrigin": "human",
                "turnPosition": {"promptIndex": self._count, "turnIndex": self._count},
                **more,
            }
        )
        self._row(
            {"type": "attachment", "attachment": {"type": "date", "date": f"{self._at:%Y-%m-%d}"}, "rendered": []}
        )

    def loads(self, skill: str, body: str) -> None:
        """The agent calls the Skill tool, and the client puts the skill's text into the conversation."""
        tool = "toolu_" + self._id("tool").replace("-", "")[:24]
        self._assistant([{"type": "tool_use", "id": tool, "name": "Skill", "input": {"skill": skill}}], "tool_use")
        result = {"type": "tool_result", "tool_use_id": tool, "content": f"Launching skill: {skill}"}
        self._row(
            {
                "type": "user",
                "message": {"role": "user", "content": [result]},
                "toolUseResult": {"success": True, "commandName": skill},
            }
        )
        text = f"Base directory for this skill: /home/sam/.claude/skills/{skill}\n\n{body}"
        self._row(
            {
                "type": "user",
                "message": {"role": "user", "content": [{"type": "text", "text": text}]},
                "isMeta": True,
                "sourceToolUseID": tool,
            }
        )

    def says(self, text: str) -> None:
        """The agent answers: a row for its thinking and a row for its text share one message id."""
        self._count += 1
        thinking = {"type": "thinking", "thinking": "A short answer will do.", "signature": "c2ln"}
        self._assistant([thinking], None)
        self._assistant([{"type": "text", "text": text}], "end_turn")
        self._plain({"type": "last-prompt", "lastPrompt": text[:40], "leafUuid": self._parent})

    def _assistant(self, content: list[dict[str, Any]], stop: str | None) -> None:
        message = {
            "id": "msg_" + self._id("message").replace("-", "")[:24],
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-5-5",
            "content": content,
            "stop_reason": stop,
            "usage": {"input_tokens": 2992, "output_tokens": 31},
        }
        self._row({"type": "assistant", "message": message, "requestId": f"req_{self._count:04}"})

    def _row(self, row: dict[str, Any]) -> None:
        self._at += timedelta(seconds=7)
        name = self._id(f"row/{len(self.lines)}")
        self._write(
            {
                "parentUuid": self._parent,
                "isSidechain": False,
                **row,
                "uuid": name,
                "timestamp": f"{self._at:%Y-%m-%dT%H:%M:%S}.000Z",
                "userType": "external",
                "entrypoint": self._entrypoint,
                "cwd": CWD,
                "sessionId": self.session,
                "version": "2.1.332",
                "gitBranch": "main",
            }
        )
        self._parent = name

    def _plain(self, row: dict[str, Any]) -> None:
        self._write({**row, "sessionId": self.session})

    def _write(self, row: dict[str, Any]) -> None:
        self.lines.append(json.dumps(row, ensure_ascii=False) + "\n")

    def _id(self, what: str) -> str:
        return str(uuid.uuid5(_NAMESPACE, f"{self._key}/{what}/{self._count if what == 'message' else ''}"))


def _oddities(parent: str) -> dict[str, bytes]:
    """What real folders hold besides: a sub-agent, a program's session, a torn line, an old row, a pasted secret."""
    helper = _Rows("helper", _BEGINNING)
    helper.human("SUBTASK: count the tins on the shelf", isSidechain=True, agentId="a1")
    helper.says("There are 12 tins.")
    program = _Rows("program", _BEGINNING, entrypoint="sdk-cli", source="sdk")
    program.human("write the release notes for the nightly build")
    program.says("Done.")
    torn = _Rows("torn", _BEGINNING + timedelta(days=2))
    torn.human("how do I descale the kettle in the break room?")
    torn.says("With vinegar, and patience.")
    torn.lines.insert(0, json.dumps({"type": "summary", "summary": "Descaling", "leafUuid": "x"}) + "\n")
    torn.lines.append(torn.lines[-2][: len(torn.lines[-2]) // 2])
    secret = _Rows("secret", _BEGINNING + timedelta(days=3))
    secret.human(f"the till says unauthorized, its config has password={'-'.join(('scones', 'at', 'dawn', '1897'))}")
    secret.says("That password does not belong into a chat. Change it, please.")
    folder = f"claude/projects/{SLUG}"
    return {
        f"{folder}/{parent}/subagents/agent-a1.jsonl": "".join(helper.lines).encode("utf-8"),
        f"{folder}/{program.session}.jsonl": "".join(program.lines).encode("utf-8"),
        f"{folder}/{torn.session}.jsonl": "".join(torn.lines).encode("utf-8"),
        f"{folder}/{secret.session}.jsonl": "".join(secret.lines).encode("utf-8"),
    }


if __name__ == "__main__":
    write(Path(sys.argv[1]))

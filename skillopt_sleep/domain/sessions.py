"""Past sessions of a person with an agent, already redacted."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime

from skillopt_sleep.domain.base import Frozen

OWN_CALL_MARKER = "[skillopt-sleep automated call]"
"""Begins each prompt that the engine sends through a client that keeps transcripts, so that harvesting leaves the
engine's own calls out. Sources look for it; backends that start such a client write it."""

EntryPoint = Literal["interactive", "headless"]

SkipReason = Literal[
    "sidechain",  # the file holds rows of a sub-agent
    "subagent",  # the file lies in a sub-agents folder
    "headless",  # started by a program; harvested only when the setting asks for it
    "no_human_prompt",
    "own_call",  # written by one of our own model calls
    "empty",
    "unreadable",
    "vanished",  # listed, but gone when it was opened
    "other_project",
    "outside_window",
    "denied_folder",  # in a folder whose sessions a person has forbidden to read
]

LineSkipReason = Literal[
    "not_json",
    "not_object",
    "truncated",
    "undecodable",
    "odd_shape",
    "too_much",  # beyond the longest session that is kept
]


class Turn(Frozen):
    """One message of a conversation; the text is redacted."""

    role: Literal["user", "assistant"]
    text: str
    at: AwareDatetime
    tools: tuple[str, ...] = ()
    """Names of the tools the assistant called in this message, in order."""
    skills: tuple[str, ...] = ()
    """Names of the skills loaded in this message, in order; a person's slash command counts."""
    interrupted: bool = False
    """The person stopped the assistant here. A weak signal: they may only have changed their mind."""
    reasked: bool = False
    """The person asked nearly the same as in their prompt before. A weak signal that the answer had not served."""


class Session(Frozen):
    """One conversation in one project, oldest turn first. A session counts by when it ended."""

    schema_version: Literal[1] = 1
    id: str
    source: str
    """Name of the transcript source, for example "claude-code"."""
    project: str
    """The working folder written in the records (not guessed from a folder name)."""
    entrypoint: EntryPoint
    started_at: AwareDatetime
    ended_at: AwareDatetime
    turns: tuple[Turn, ...]
    masked: dict[str, int] = {}
    """How many secrets of each kind were masked while reading."""

    @property
    def skills(self) -> tuple[str, ...]:
        """Skills used in the session, in order of first use."""
        return tuple(dict.fromkeys(name for turn in self.turns for name in turn.skills))


class Query(Frozen):
    """Which sessions to look for."""

    project: str | None = None
    """Only sessions whose working folder is this one or lies below it. None: every project."""
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None
    """Bounds on a session's end; `since` is inclusive, `until` exclusive."""
    limit: int | None = None
    include_headless: bool = False
    deny: tuple[str, ...] = ()
    """Folders whose sessions, and those of folders below them, are neither read nor kept."""


class Harvest(Frozen):
    """What reading the transcripts gave, with everything that was left out and why."""

    sessions: tuple[Session, ...]
    files: int
    kept: int = 0
    """Sessions whose transcript is gone and whose digest was kept."""
    soon_deleted: int = 0
    """Harvested transcripts that the client will delete within days."""
    skipped: dict[SkipReason, int] = {}
    skipped_lines: dict[LineSkipReason, int] = {}
    masked: dict[str, int] = {}

"""Which working folders a query is about, and which it must leave alone."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import PurePath

from skillopt_sleep.domain.digests import Entry
from skillopt_sleep.domain.sessions import Query, SkipReason


class Folders:
    """Some folders and what lies below them, by name or through symbolic links (as /tmp on macOS)."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._roots = [root for folder in folders for root in _spellings(folder)]
        self._known: dict[str, bool] = {}

    def hold(self, folder: str) -> bool:
        if not self._roots:
            return False
        if folder not in self._known:
            self._known[folder] = any(f.is_relative_to(root) for f in _spellings(folder) for root in self._roots)
        return self._known[folder]


class Scope:
    """A query, ready to be asked about many transcripts."""

    def __init__(self, query: Query) -> None:
        self.query = query
        self._project = None if query.project is None else Folders([query.project])
        self._denied = Folders(query.deny)

    def denies(self, folders: Iterable[str]) -> bool:
        """Whether any of a session's working folders is one that must not be read."""
        return any(self._denied.hold(folder) for folder in folders)

    def holds(self, project: str | None) -> bool:
        """Whether the query is about this project."""
        return self._project is None or (project is not None and self._project.hold(project))

    def refuses(self, entry: Entry) -> SkipReason | None:
        """Why what was read is not what the query asks for; None where it is."""
        if self.denies(entry.folders):
            return "denied_folder"
        match entry.outcome:
            case "session" | "no_human_prompt":
                return self._refuses_conversation(entry)
            case "glimpsed":
                return "other_project"
            case reason:
                return reason

    def _refuses_conversation(self, entry: Entry) -> SkipReason | None:
        if entry.entrypoint == "headless" and not self.query.include_headless:
            return "headless"
        if entry.outcome == "no_human_prompt" or entry.ended_at is None:
            return "no_human_prompt"
        if not self.holds(entry.folders[0] if entry.folders else None):
            return "other_project"
        since, until = self.query.since, self.query.until
        if (since and entry.ended_at < since) or (until and entry.ended_at >= until):
            return "outside_window"
        return None


def _spellings(folder: str) -> tuple[PurePath, PurePath]:
    return PurePath(folder), PurePath(os.path.realpath(folder))

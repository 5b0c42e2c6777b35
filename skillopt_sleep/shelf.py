"""Where skills and memory files live, and which of them may be changed. Looks only; adopting is `staging`'s business.

A memory file (`CLAUDE.md`, `AGENTS.md`) is what an agent reads in every session of a project, or of a person. It is
improved as a skill is, within a region of its own, from the sessions that used no skill.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.errors import ConflictError, InputError, UnknownName

Scope = Literal["project", "user", "plugin", "memory"]

PROJECT_MEMORY = ("CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md")
"""Memory files of a project, in the order in which sessions without a skill are given to them.

Measured with Claude Code 2.1: `AGENTS.md` is read only where there is none of the others.
"""
USER_MEMORY = "user:CLAUDE.md"
"""What a person's own memory file is called here."""


def claude_root(environ: Mapping[str, str], home: Path) -> Path:
    """Claude Code's own folder: `$CLAUDE_CONFIG_DIR`, else `~/.claude`."""
    chosen = environ.get("CLAUDE_CONFIG_DIR")
    return whole_path(chosen) if chosen else home / ".claude"


def whole_path(text: str) -> Path:
    """A folder that a person named, absolute and without "..". Raises `InputError` for a home that does not exist."""
    try:
        return Path(os.path.normpath(Path(text).expanduser().absolute()))
    except RuntimeError as error:
        raise InputError(f"{text!r} names a home folder that does not exist.") from error


def same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file: through a link, or by another spelling."""
    try:
        return one.samefile(other)
    except OSError:  # one of them does not exist, or cannot be looked at
        return False


class SkillFile(Frozen):
    """One file that tells an agent how to work: a skill, or a memory file."""

    name: str
    """The name an agent uses for it; a plugin's skills are called `plugin:skill`."""
    scope: Scope
    path: Path
    hidden_by: Path | None = None
    """The file that an agent loads in its place: one of the same name, or the same file under another name."""

    @property
    def is_memory(self) -> bool:
        return self.scope == "memory"

    @property
    def of_project(self) -> bool:
        """Whether it belongs to one project, so that what a person thinks of it there says nothing about others."""
        return self.scope == "project" or self.name in PROJECT_MEMORY

    @property
    def writable(self) -> bool:
        return self.why_not_writable is None

    @property
    def why_not_writable(self) -> str | None:
        """Why it is not changed, in words that follow its name; None if it may be."""
        if self.scope == "plugin":  # an update would take every change away
            return "belongs to a plugin and is read-only"
        return self._why_never_loaded if self.hidden_by is not None else self._why_closed

    @property
    def _why_never_loaded(self) -> str:
        if self.hidden_by is not None and same_file(self.path, self.hidden_by):
            return f"is the same file as {self.hidden_by}"
        return f"is never loaded, because {self.hidden_by} has the same name and goes before it"

    @property
    def _why_closed(self) -> str | None:
        try:
            found = self.path.stat()
        except OSError:
            return None  # reading it will say what is wrong
        if not found.st_mode & 0o222:
            return "is write-protected"
        if found.st_nlink > 1:  # an atomic swap gives this name a new file; the others would keep the old text
            return f"is one of {found.st_nlink} names of one file (hard links), which adopting would part"
        return None


class Shelf:
    """The skills of a person (`<claude>/skills`), of a project (`.claude/skills`) and of installed plugins."""

    def __init__(self, claude_root: Path, project: Path) -> None:
        self._claude_root = claude_root
        self._project = project

    def skills(self) -> tuple[SkillFile, ...]:
        """All of them, in the order of an agent that finds several of one name: the user's skills first, then the
        project's, then plugins', by name; then memory files.

        Measured with Claude Code 2.1: a user's skill hides the project's skill of the same name, a second link to a
        loaded file is not loaded again, and names that differ by case are two names.
        """
        return tuple(
            _with_hidden(
                (
                    *self._in_folder(self._claude_root / "skills", "user"),
                    *self._in_folder(self._project / ".claude" / "skills", "project"),
                    *self._plugins(),
                    *self._memory(),
                )
            )
        )

    def project_memory(self) -> str | None:
        """The name of the project's memory file, where there is one."""
        return next((name for name in PROJECT_MEMORY if _is_file(self._project / name)), None)

    def find(self, name: str) -> SkillFile:
        """The skill of that name; a user's own skill goes before the project's, as it does for the agent.

        A second link to a file gives the skill under its first name: what was done with either is about one text. A
        memory file that a person names need not exist yet. Raises `UnknownName` with the nearest match, and
        `ConflictError` where two names differ only by case.
        """
        found = self.skills()
        exact = [skill for skill in found if skill.name == name]
        if exact:
            return next((skill for skill in found if skill.path == exact[0].hidden_by), exact[0])
        if name in self._memory_places():
            return SkillFile(name=name, scope="memory", path=self._memory_places()[name])
        folded = [skill for skill in found if skill.name.casefold() == name.casefold()]
        if len({skill.name for skill in folded}) > 1:
            listed = ", ".join(skill.name for skill in folded)
            raise ConflictError(
                f"Several skills differ from {name!r} only by case: {listed}.", hint="Name one exactly."
            )
        if folded:
            return folded[0]
        raise UnknownName("skill", name, {skill.name for skill in found}, hint=self._where())

    def _where(self) -> str:
        return f"Looked in {self._claude_root / 'skills'} and {self._project / '.claude' / 'skills'}."

    def _in_folder(self, folder: Path, scope: Scope, prefix: str = "") -> Iterator[SkillFile]:
        try:
            entries = sorted(folder.iterdir())
        except OSError:  # a missing or closed folder holds no skills we could use
            return
        for entry in entries:
            if _is_file(entry / "SKILL.md"):
                yield SkillFile(name=prefix + entry.name, scope=scope, path=entry / "SKILL.md")

    def _plugins(self) -> Iterator[SkillFile]:
        cache = self._claude_root / "plugins" / "cache"  # cache/<market>/<plugin>/<version>/skills
        for folder in sorted(cache.glob("*/*/*/skills")):
            yield from self._in_folder(folder, "plugin", prefix=f"{folder.parents[1].name}:")

    def _memory(self) -> Iterator[SkillFile]:
        """Only files that exist: nobody is given a memory that they did not begin or ask for."""
        for name, file in self._memory_places().items():
            if _is_file(file):
                yield SkillFile(name=name, scope="memory", path=file)

    def _memory_places(self) -> dict[str, Path]:
        places = {name: self._project / name for name in PROJECT_MEMORY}
        return {**places, USER_MEMORY: self._claude_root / "CLAUDE.md"}


def _with_hidden(skills: Iterable[SkillFile]) -> Iterator[SkillFile]:
    """The same skills, and of each one that an agent does not load, what it loads in its place."""
    loaded: dict[object, Path] = {}
    for skill in skills:
        keys: list[object] = [skill.name]
        with suppress(OSError):  # what cannot be looked at has only its name
            found = skill.path.stat()
            keys.append((found.st_dev, found.st_ino))
        before = next((loaded[key] for key in keys if key in loaded), None)
        if before is None:
            loaded |= dict.fromkeys(keys, skill.path)
        yield skill if before is None else skill.model_copy(update={"hidden_by": before})


def _is_file(path: Path) -> bool:
    """Whether there is a file; also one in a folder that is closed to us, so that it is refused by its name."""
    try:
        return path.is_file()
    except PermissionError:
        return True

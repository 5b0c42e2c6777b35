"""Where skills and memory files live, and which of them may be changed. Looks only; adopting is `staging`'s business.

A memory file (`CLAUDE.md`, `AGENTS.md`) is what an agent reads in every session of a project, or of a person. It is
improved as a skill is, within a region of its own, from the sessions that used no skill.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from skillopt_sleep.domain.base import Frozen
from skillopt_sleep.domain.errors import ConflictError, InputError, UnknownName

Scope = Literal["project", "user", "plugin", "memory"]

PROJECT_MEMORY = ("CLAUDE.md", "AGENTS.md")
"""Memory files at a project's root, in the order in which sessions without a skill are given to them."""
USER_MEMORY = "user:CLAUDE.md"
"""What a person's own memory file is called here."""


def claude_root(environ: Mapping[str, str], home: Path) -> Path:
    """Claude Code's own folder: `$CLAUDE_CONFIG_DIR`, else `~/.claude`."""
    chosen = environ.get("CLAUDE_CONFIG_DIR")
    return whole_path(chosen) if chosen else home / ".claude"


def whole_path(text: str) -> Path:
    """A folder that a person named, made absolute. Raises `InputError` for a home that does not exist."""
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError as error:
        raise InputError(f"{text!r} names a home folder that does not exist.") from error


class SkillFile(Frozen):
    """One file that tells an agent how to work: a skill, or a memory file."""

    name: str
    """The name an agent uses for it; a plugin's skills are called `plugin:skill`."""
    scope: Scope
    path: Path

    @property
    def is_memory(self) -> bool:
        return self.scope == "memory"

    @property
    def writable(self) -> bool:
        return self.why_not_writable is None

    @property
    def why_not_writable(self) -> str | None:
        """Why it must not be changed, in words; None if it may be."""
        if self.scope == "plugin":  # an update would take every change away
            return "belongs to a plugin and is read-only"
        try:
            protected = not self.path.stat().st_mode & 0o222
        except OSError:
            return None  # reading it will say what is wrong
        return "is write-protected" if protected else None


class Shelf:
    """The skills of a person (`<claude>/skills`), of a project (`.claude/skills`) and of installed plugins."""

    def __init__(self, claude_root: Path, project: Path) -> None:
        self._claude_root = claude_root
        self._project = project

    def skills(self) -> tuple[SkillFile, ...]:
        """All of them: the project's skills first, then the user's, then plugins', by name; then memory files."""
        return (
            *self._in_folder(self._project / ".claude" / "skills", "project"),
            *self._in_folder(self._claude_root / "skills", "user"),
            *self._plugins(),
            *self._memory(),
        )

    def project_memory(self) -> str | None:
        """The name of the project's memory file, where there is one."""
        return next((name for name in PROJECT_MEMORY if (self._project / name).is_file()), None)

    def find(self, name: str) -> SkillFile:
        """The skill of that name; a project's own skill goes before the user's.

        Raises `UnknownName` with the nearest match, and `ConflictError` where two names differ only by case.
        """
        found = self.skills()
        exact = [skill for skill in found if skill.name == name]
        if exact:
            return exact[0]
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
        return f"Looked in {self._project / '.claude' / 'skills'} and {self._claude_root / 'skills'}."

    def _in_folder(self, folder: Path, scope: Scope, prefix: str = "") -> Iterator[SkillFile]:
        try:
            entries = sorted(folder.iterdir())
        except OSError:  # a missing or closed folder holds no skills we could use
            return
        for entry in entries:
            file = entry / "SKILL.md"
            if file.is_file():
                yield SkillFile(name=prefix + entry.name, scope=scope, path=file)

    def _plugins(self) -> Iterator[SkillFile]:
        cache = self._claude_root / "plugins" / "cache"  # cache/<market>/<plugin>/<version>/skills
        for folder in sorted(cache.glob("*/*/*/skills")):
            yield from self._in_folder(folder, "plugin", prefix=f"{folder.parents[1].name}:")

    def _memory(self) -> Iterator[SkillFile]:
        """Only files that exist: nobody is given a memory that they did not begin."""
        places = [(name, self._project / name) for name in PROJECT_MEMORY]
        for name, file in (*places, (USER_MEMORY, self._claude_root / "CLAUDE.md")):
            if file.is_file():
                yield SkillFile(name=name, scope="memory", path=file)

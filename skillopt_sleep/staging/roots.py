"""Which files a proposal may change."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from skillopt_sleep.domain.errors import ConflictError

_PROJECT_MEMORY = ("CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md")
_MEMORY = ("CLAUDE.md", "AGENTS.md")


@dataclass(frozen=True, slots=True)
class AllowedRoots:
    """A person's own skills and memory file, a project's, and folders that were named explicitly."""

    claude_root: Path
    project_root: Path
    extra: tuple[Path, ...] = ()

    def check(self, target: Path) -> Path:
        """The real file behind `target`. Raises `ConflictError` for a path that must not be changed.

        The path itself must lie in an allowed folder and name a skill file, or be a memory file in its one place. A
        link in a person's own folder was put there by that person (skills are often kept in a dotfiles repository), so
        its real file is changed and the link stays. A link in a project may come from whoever wrote the project: it
        must not lead out of it. A plugin's files are never touched, however they are reached.
        """
        plain = Path(os.path.normpath(target))
        if not target.is_absolute() or plain != target or plain.name not in ("SKILL.md", *_MEMORY):
            raise _refused(target, "it is not the absolute path of a SKILL.md or of a memory file")
        try:
            real = target.resolve()
        except (OSError, RuntimeError) as error:  # RuntimeError: Python 3.11 and 3.12 on links in a circle
            raise _refused(target, "its links lead nowhere") from error
        if _within(real, self.claude_root / "plugins") or _within(plain, self.claude_root / "plugins"):
            raise _refused(target, "it belongs to a plugin, whose next update would take the change away")
        if real.suffix.lower() not in (".md", ".markdown"):
            raise _refused(target, f"its link leads to {real.name}, which is no Markdown file")
        if plain.name in _MEMORY:
            own = plain == self.claude_root / "CLAUDE.md"
            of_project = plain in [self.project_root / place for place in _PROJECT_MEMORY]
        else:
            own = any(_within(plain, root) for root in (self.claude_root / "skills", *self.extra))
            of_project = _within(plain, self.project_root / ".claude" / "skills")
        if own:
            return real
        if not of_project:
            raise _refused(target, "it lies outside the folders of skills")
        if not _within(real, self.project_root):
            raise _refused(target, f"its link leads out of the project, to {real}")
        return real


def _within(path: Path, folder: Path) -> bool:
    """Whether `path` lies below `folder`: by name, or because the system says that two folders are the same.

    The second catches other spellings: a link above both, a file system that ignores case.
    """
    if Path(os.path.normpath(folder)) in path.parents:
        return True
    return folder.exists() and any(parent.exists() and parent.samefile(folder) for parent in path.parents)


def _refused(target: Path, why: str) -> ConflictError:
    return ConflictError(f"{target} is not changed: {why}.", hint="Nothing was written.")

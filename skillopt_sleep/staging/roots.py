"""Which files a proposal may change."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from skillopt_sleep.domain.errors import ConflictError


@dataclass(frozen=True, slots=True)
class AllowedRoots:
    """A person's own skills, a project's skills, and folders that were named explicitly."""

    claude_root: Path
    project_root: Path
    extra: tuple[Path, ...] = ()

    def check(self, target: Path) -> Path:
        """The real file behind `target`. Raises `ConflictError` for a path that must not be changed.

        The path itself must lie in an allowed folder, and it must be a skill file. A link there was put by the person,
        so its real file is changed and the link stays; only a plugin's cache is never touched, however it is reached.
        """
        plain = Path(os.path.normpath(target))
        if not target.is_absolute() or plain != target or plain.name != "SKILL.md":
            raise _refused(target, "it is not the absolute path of a SKILL.md")
        allowed = (self.claude_root / "skills", self.project_root / ".claude" / "skills", *self.extra)
        if not any(_within(plain, root) for root in allowed):
            raise _refused(target, "it lies outside the folders of skills")
        real = target.resolve()
        if _within(real, (self.claude_root / "plugins").resolve()):
            raise _refused(target, "it belongs to a plugin, whose next update would take the change away")
        return real


def _within(path: Path, root: Path) -> bool:
    return Path(os.path.normpath(root)) in path.parents


def _refused(target: Path, why: str) -> ConflictError:
    return ConflictError(f"{target} is not changed: {why}.", hint="Nothing was written.")

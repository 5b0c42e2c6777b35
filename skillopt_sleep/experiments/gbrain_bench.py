"""The published gbrain-evals seeds under the names that research code imports; `mine.gbrain_layout` does the work."""

from __future__ import annotations

import os
from pathlib import Path

from skillopt_sleep.domain.errors import InputError, UnknownName
from skillopt_sleep.domain.tasks import Task
from skillopt_sleep.mine.gbrain_layout import load_seed_folder

SEED_FOLDERS: dict[str, str] = {
    "brief-writer": "seed-missing-structure",
    "thorough-analyst": "seed-verbose",
    "quick-answerer": "seed-no-brain-first",
    "advisor": "seed-no-verdict",
}
"""Name of a seed -> its folder."""
_BELOW = ("", "skillopt-v1", "gbrain-evals/skillopt-v1")

BUILTIN = "builtin"
"""As a data root: the seeds that come with this package, in the same layout and under the same names."""


def find_data_root(explicit: str | Path | None = None) -> Path:
    """The folder that holds the seed folders: `explicit`, else `$GBRAIN_DATA`, else `./data`.

    A parent that holds `skillopt-v1` or `gbrain-evals/skillopt-v1` is accepted, and `builtin` stands for the seeds of
    this package. The first of the three that is given decides; `InputError` says what to give if no seeds are there.
    """
    if str(explicit) == BUILTIN:
        return Path(__file__).parent / "seed_data"
    if explicit is not None and str(explicit):
        origin, start = "--data-root", Path(explicit)
    elif named := os.environ.get("GBRAIN_DATA"):
        origin, start = "$GBRAIN_DATA", Path(named)
    else:
        origin, start = "the default", Path("data")
    root = _seed_root(start.expanduser())
    if root is None:
        raise InputError(
            f"There are no gbrain-evals seeds (seed-*/SKILL.md) in {start} ({origin}).",
            hint="Give the folder with --data-root DIR or $GBRAIN_DATA; `--data-root builtin` takes seeds of our own.",
        )
    return root


def available_seeds(root: str | Path) -> list[str]:
    """Names of the seeds under `root`: the published ones first, any other folder `seed-*` by its own name."""
    folders = _seed_folders(_seed_root(Path(root)) or Path(root))
    named = [name for name, folder in SEED_FOLDERS.items() if folder in folders]
    return named + [folder for folder in folders if folder not in SEED_FOLDERS.values()]


def load_seed(root: str | Path, seed: str) -> tuple[str, list[Task]]:
    """A seed's skill and tasks, by its name or its folder's name; each task's `split` is train, val or test.

    Raises `UnknownName` for a seed that is not there, and `InputError` for files that cannot be used.
    """
    skill, tasks = load_seed_folder(seed_folder(root, seed))
    return skill, list(tasks)


def seed_folder(root: str | Path, seed: str) -> Path:
    """The folder of a seed, by its name or its own name. Raises `UnknownName` for a seed that is not there."""
    base = _seed_root(Path(root)) or Path(root)
    folder = SEED_FOLDERS.get(seed, seed)
    if folder not in _seed_folders(base):
        raise UnknownName("seed", seed, available_seeds(base))
    return base / folder


def _seed_root(start: Path) -> Path | None:
    return next((start / below for below in _BELOW if _seed_folders(start / below)), None)


def _seed_folders(root: Path) -> list[str]:
    """Seed folders are told by their name; a broken one is found, so that loading can say what is wrong with it."""
    return sorted(path.name for path in root.glob("seed-*") if path.is_dir()) if root.is_dir() else []

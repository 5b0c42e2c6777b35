"""The only package that writes to disk.

    home = StateHome(default_home(os.environ))      the state folder; looking at it creates nothing
    project = home.project(project_root(cwd))       one project: ledger, night lock, nights, swap lock
    project.jobs                                    plans that were offered, jobs that were started
    with project.night_lock(now):                   one night at a time
        journal = project.new_night(now)            one night's folder, appended as things happen
    home.memory(project.root)                       families met and rules turned down (SQLite)
    home.gate_tests(project.root, simulated=...)    the gate's tests: their shared alpha, the unfinished ones (SQLite)
    home.transcripts()                              what transcripts held, so that they are read once (SQLite)
    home.reply_cache(events)                        replies paid for once (SQLite); never fatal
    home.spend(run, caps, clock)                    what costly calls took, day by day (SQLite)

`write_atomic` replaces a file so that a reader sees the old bytes or the new, never a mixture; `compare_and_swap` does
so only if the file still is what it was. `Disk` is the seam through which tests let a write fail at any step. What
cannot be read or written raises `StateError`.
"""

from skillopt_sleep.store.atomic import (
    append_line,
    compare_and_swap,
    live_sha256,
    make_folders,
    missing_folders,
    private_folder,
    remove_if_empty,
    short,
    subfolders,
    write_atomic,
)
from skillopt_sleep.store.disk import DISK, Disk
from skillopt_sleep.store.gate_tests import KeptGateTests
from skillopt_sleep.store.health import state_findings
from skillopt_sleep.store.jobs import JobFolder, JobFolders
from skillopt_sleep.store.journal import Found, NightJournal, Relay, load_report
from skillopt_sleep.store.layout import ProjectFolder, StateHome, default_home, project_root
from skillopt_sleep.store.ledger import Ledger
from skillopt_sleep.store.memory import Memory, TurnedDown
from skillopt_sleep.store.replies import ReplyCache
from skillopt_sleep.store.scratch import Scratch
from skillopt_sleep.store.spend import SpendFile
from skillopt_sleep.store.transcripts import TranscriptIndex

__all__ = [
    "DISK",
    "Disk",
    "Found",
    "JobFolder",
    "JobFolders",
    "KeptGateTests",
    "Ledger",
    "Memory",
    "NightJournal",
    "ProjectFolder",
    "Relay",
    "ReplyCache",
    "Scratch",
    "SpendFile",
    "StateHome",
    "TranscriptIndex",
    "TurnedDown",
    "append_line",
    "compare_and_swap",
    "default_home",
    "live_sha256",
    "load_report",
    "make_folders",
    "missing_folders",
    "private_folder",
    "project_root",
    "remove_if_empty",
    "short",
    "state_findings",
    "subfolders",
    "write_atomic",
]

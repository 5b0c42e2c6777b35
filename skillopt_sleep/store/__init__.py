"""The only package that writes to disk.

`StateHome` is the state folder, `ProjectFolder` one project in it, `NightJournal` one night; `Memory` and `ReplyCache`
are the two databases; `write_atomic` replaces a file so that a reader sees the old bytes or the new, never a mixture.
Looking at things creates nothing.
"""

from skillopt_sleep.store.atomic import DISK, Disk, append_line, private_folder, write_atomic
from skillopt_sleep.store.journal import NightJournal, Relay
from skillopt_sleep.store.layout import ProjectFolder, StateHome, default_home, project_root
from skillopt_sleep.store.ledger import Ledger
from skillopt_sleep.store.memory import Memory, TurnedDown
from skillopt_sleep.store.replies import ReplyCache

__all__ = [
    "DISK",
    "Disk",
    "Ledger",
    "Memory",
    "NightJournal",
    "ProjectFolder",
    "Relay",
    "ReplyCache",
    "StateHome",
    "TurnedDown",
    "append_line",
    "default_home",
    "private_folder",
    "project_root",
    "write_atomic",
]

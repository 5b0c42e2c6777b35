"""The demo: one whole night on bundled sessions and skills, in a folder of its own, with the simulated model.

Everything runs through the same use-cases as a real night; only the environment points elsewhere.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from skillopt_sleep import app
from skillopt_sleep.domain.base import sha256_hex
from skillopt_sleep.domain.errors import InputError
from skillopt_sleep.domain.ports import EventSink
from skillopt_sleep.requests import AdoptRequest, ProposalRequest, RunRequest
from skillopt_sleep.store import private_folder, write_atomic
from skillopt_sleep.views import ChangeView, RunView, View
from skillopt_sleep.wiring import Environment

TARGET, OPTIMIZER = "sim:mid", "sim:strong"


@dataclass(frozen=True, slots=True)
class DemoPlaces:
    """A copy of the bundled material that a demo may change as it likes."""

    folder: Path
    environment: Environment


class DemoView(View):
    """A demo night, one adoption and its undoing."""

    folder: str
    night: RunView
    adopted: ChangeView | None = None
    diff: str = ""
    undone: ChangeView | None = None
    restored: bool | None = None
    """Whether the live file, after the undo, has the very bytes it had before; None where nothing was adopted."""


def lay_out(folder: Path | None) -> DemoPlaces:
    """Copy the bundled sessions and skills into a folder: the given one (new or empty), or a new temporary one."""
    if folder is None:
        place = Path(tempfile.mkdtemp(prefix="skillopt-sleep-demo-"))
    else:
        place = folder.expanduser().resolve()
        if place.exists() and (not place.is_dir() or any(place.iterdir())):
            raise InputError(f"{place} is not an empty folder.", hint="Give the demo a new or an empty folder.")
    with resources.as_file(resources.files("skillopt_sleep.experiments") / "demo_data") as bundled:
        for file in (path for path in bundled.rglob("*") if path.is_file()):
            target = place / file.relative_to(bundled)
            private_folder(target.parent)
            write_atomic(target, file.read_bytes())
    project = private_folder(place / "shop")
    environ = {
        "SKILLOPT_SLEEP_HOME": str(place / "state"),
        "CLAUDE_CONFIG_DIR": str(place / "claude"),
    }
    return DemoPlaces(place, Environment(environ=environ, cwd=project, home=place))


def demo(*, seed: int, folder: Path | None, events: EventSink) -> DemoView:
    """Run the night, adopt the first accepted proposal, and undo it again."""
    places = lay_out(folder)
    request = RunRequest(target_model=TARGET, optimizer_model=OPTIMIZER, seed=seed, all_projects=True, since_days=3650)
    night = app.run(request, places.environment, events)
    accepted = [r for r in night.report.skills if r.proposal_id and r.verdict and r.verdict.decision == "accept"]
    if not accepted or accepted[0].proposal_id is None:
        return DemoView(
            summary=f"{night.summary} Nothing was accepted, so nothing was adopted.",
            folder=str(places.folder),
            night=night,
        )
    proposal, live = accepted[0].proposal_id, Path(accepted[0].target)
    before = sha256_hex(live.read_bytes())
    diff = app.show(ProposalRequest(proposal=proposal), places.environment).diff
    adopted = app.adopt(AdoptRequest(proposal=proposal), places.environment)
    undone = app.undo(ProposalRequest(proposal=proposal), places.environment)
    return DemoView(
        summary=night.summary,
        folder=str(places.folder),
        night=night,
        adopted=adopted,
        diff=diff,
        undone=undone,
        restored=sha256_hex(live.read_bytes()) == before,
    )

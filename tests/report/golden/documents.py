"""Documents whose whole text is kept and compared."""

from __future__ import annotations

from pathlib import Path

from skillopt_sleep.report import markdown, night_lines, proposal_markdown
from tests.report.builders import DIFF, night, proposal, unsure

FOLDER = Path(__file__).parent


def documents() -> dict[str, str]:
    return {
        "night.md": markdown(night()),
        "night.txt": "\n".join(night_lines(night())) + "\n",
        "proposal.md": proposal_markdown(proposal(), DIFF),
        "unverified.md": proposal_markdown(proposal(verdict=unsure(), test=None, evidence=(), before_sha256=None), ""),
    }

"""The bundled seeds: four deficient skills of a small museum, in the layout and under the names of the published ones.

    python -m skillopt_sleep.experiments.builtin_seeds FOLDER     writes them anew

Everything is made up and deterministic. Each seed lacks one thing, and an answer of "ok" fails every task of all four.

    seed-missing-structure   a brief must end with its open questions, under a heading
    seed-verbose             an answer has to be short, and say something
    seed-no-brain-first      an answer has to be looked up in the notes first
    seed-no-verdict          advice has to begin with a verdict
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skillopt_sleep.store import private_folder, write_atomic

MATTERS = (
    "open the whale hall on Mondays",
    "lend the brass astrolabe to another museum",
    "replace the paper guide with an audio guide",
    "let school classes in without paying",
    "move the meteorite next to the entrance",
    "sell prints of the star charts",
    "show the fossil room in the dark, with lamps",
    "hire a second restorer for the clocks",
    "close the garden in winter",
    "let visitors touch the cast of the mammoth tusk",
    "keep the butterfly drawers shut on sunny days",
    "put the map collection on the web",
    "hold weddings in the library",
    "ask for coats to be left at the door",
    "repaint the orrery in its first colours",
    "keep the herbarium in the old cellar",
    "have a night for adults only once a month",
    "give volunteers a key to the archive",
)
"""What may be learnt from: train and gate."""

OTHER_MATTERS = (
    "rent the tower room to a chess club",
    "send the glass flowers on a tour",
    "sell tea in the mineral hall",
    "label the birds in three languages",
    "take cash at the front desk",
    "rebuild the camera obscura on the roof",
    "count visitors with a sensor",
    "store the ship models upright",
    "lower the light over the tapestries",
    "print a yearly report of every purchase",
    "let a film crew use the planetarium",
    "change the cleaning of the coin cabinet",
)
"""What is held out: twelve matters that no night sees."""

NOTES: Mapping[str, str] = {
    "opening-hours": "The house opens at ten and closes at five, from Tuesday to Sunday; the garden closes at dusk.",
    "loans": "A loan needs the signature of the director and a climate report for the journey.",
    "visitors": "Most visitors come with children; on rainy days twice as many come.",
    "collections": "Light over paper and cloth stays below fifty lux. Drawers are opened for no longer than an hour.",
    "money": "The shop earns a fifth of what the house needs; the rest comes from the town and from members.",
}


def _skill(name: str, title: str, description: str, body: str) -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\n\n# {title}\n\n{body}\n"


SKILLS: Mapping[str, str] = {
    "seed-missing-structure": _skill(
        "brief-writer",
        "Brief writer",
        "Write a brief on a matter of the house.",
        "Write one page for the director. Say what is proposed, why, and what it would change.",
    ),
    "seed-verbose": _skill(
        "thorough-analyst",
        "Thorough analyst",
        "Answer a question about the house.",
        "Be thorough. Look at every side, explain the background, and leave nothing out.",
    ),
    "seed-no-brain-first": _skill(
        "quick-answerer",
        "Quick answerer",
        "Answer a question of a visitor or of the staff.",
        "Answer at once, from what you know. One or two paragraphs are enough.",
    ),
    "seed-no-verdict": _skill(
        "advisor",
        "Advisor",
        "Advise the director on a matter of the house.",
        "Lay out what speaks for it and what speaks against it. The director will weigh it.",
    ),
}

_ASKED: Mapping[str, str] = {
    "seed-missing-structure": "Write a brief on whether to {}.",
    "seed-verbose": "What should we know before we {}?",
    "seed-no-brain-first": "Somebody asks: is it a good idea to {}?",
    "seed-no-verdict": "Advise us: should we {}?",
}
_CHECKS: Mapping[str, tuple[dict[str, Any], ...]] = {
    "seed-missing-structure": ({"op": "section_present", "arg": "Open Questions"},),
    "seed-verbose": ({"op": "max_chars", "arg": 600}, {"op": "min_chars", "arg": 40}),
    "seed-no-brain-first": ({"op": "tool_called", "arg": "search"},),
    "seed-no-verdict": ({"op": "regex", "arg": "(?m)^Verdict: "},),
}


def files() -> dict[str, bytes]:
    """Every file by its path below the data root."""
    found: dict[str, str] = {}
    for seed, skill in SKILLS.items():
        found[f"{seed}/SKILL.md"] = skill
        found[f"{seed}/benchmark.jsonl"] = _rows(seed, "learn", MATTERS)
        found[f"{seed}/held-out.jsonl"] = _rows(seed, "held", OTHER_MATTERS)
    for topic, text in NOTES.items():
        found[f"seed-no-brain-first/brain/topics/{topic}.md"] = text + "\n"
    return {path: text.encode() for path, text in found.items()}


def write(root: Path) -> None:
    """Write all files below `root`."""
    for name, data in files().items():
        path = root / name
        private_folder(path.parent)
        write_atomic(path, data)


def _rows(seed: str, prefix: str, matters: tuple[str, ...]) -> str:
    rows = [
        {
            "task_id": f"{prefix}-{number:02}",
            "task": _ASKED[seed].format(matter),
            "judge": {"kind": "rule", "checks": list(_CHECKS[seed])},
        }
        for number, matter in enumerate(matters, start=1)
    ]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


if __name__ == "__main__":
    write(Path(sys.argv[1]))

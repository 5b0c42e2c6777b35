"""The example behind a rule."""

from __future__ import annotations

from skillopt_sleep.domain.briefing import Requirement


def illustration(requirement: Requirement) -> str:
    """A requirement's example as it follows a rule: in line where it is one line, else as a block. "" without one."""
    example = (requirement.example or "").strip()
    if not example or example in requirement.text:
        return ""
    if "\n" in example or "`" in example:
        return f"\n\n~~~\n{example}\n~~~"
    return f" For example: `{example}`"

"""Reports for people: the same night as Markdown, as one HTML page, as a table and as plain lines.

Renderers are pure: data in, text out. They decide nothing about verdicts; they put what was decided into words, and all
of them take the words from `words`. Three promises hold for each: what got worse comes first, a missing value is shown
as missing and never as 0, and figures that rest on a simulated model say so at the top and beside the figures.
"""

from skillopt_sleep.report.document import markdown
from skillopt_sleep.report.page import html
from skillopt_sleep.report.proposal import proposal_markdown
from skillopt_sleep.report.terminal import night_lines, night_reasons, night_table

__all__ = ["html", "markdown", "night_lines", "night_reasons", "night_table", "proposal_markdown"]

"""Whether a request can be judged without the world it was made in. When in doubt, it can: a gate needs tasks."""

from __future__ import annotations

import re
from typing import Final

from skillopt_sleep.mine.wording import read_wording

_ACT: Final = (
    r"(?:fix|debug|edit|refactor|open|read|update|change|rename|delete|move|patch|look at|check|review|run|see|modify"
    r"|inspect|clean up)"
)
_FOLDER: Final = r"(?:src|lib|pkg|cmd|internal|packages|scripts)"
_FILE_ENDING: Final = (
    r"(?:py|pyi|js|jsx|ts|tsx|mjs|go|rs|java|kt|rb|php|c|cc|cpp|h|hpp|cs|swift|scala|sh|sql|html|css|scss|vue|svelte"
    r"|ya?ml|toml|json|lock|cfg|ini|md|rst|txt|ipynb|tf|gradle|xml|csv|log)"
)
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)

_REASONS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (
        "it asks to run something, and a replay runs nothing",
        re.compile(
            r"\b(?:re-?run|run|execute|launch|start up|spin up) (?:(?:the|all|my|our|these|those|your|a|full"
            r"|whole|unit|integration|e2e) )*"
            r"(?:tests?|test suite|specs?|pytest|benchmarks?|build|linter?|server|app|migrations?|pipeline"
            r"|containers?|script|command|ci)\b"
            r"|\brun (?:pytest|npm|yarn|pnpm|make|cargo|docker|tox|ruff|mypy|jest|go)\b"
            r"|(?:^|[`$]\s*)(?:pytest|npm (?:run|test|install|i|ci)|yarn (?:run|test|install)|cargo (?:test|build"
            r"|run)|make (?:test|check|build))\b"
            r"|\bdocker(?:-compose| compose)? (?:run|build|up|ps|exec|down|logs|push|pull)\b|\bkubectl \w+"
            r"|(?:^|\bplease |\band |\bthen |\bnow )deploy (?:it|this|the \w+|to)\b|\brestart the \w+"
            r"|\bmake (?:the|all) tests? pass\b",
            re.IGNORECASE,
        ),
    ),
    (
        "it changes a repository that a replay does not have",
        re.compile(
            r"(?:^|[`$]\s*|\b(?:run|do|use|execute) (?:a )?)git (?:push|pull|commit|rebase|merge|checkout|bisect"
            r"|stash|status|diff|log|add)\b"
            r"|\b(?:push|commit|stage) (?:it|this|them|these|the|my|all|your) ?(?:changes|files|branch"
            r"|to \w+)?(?=$|[.,;!]| and )"
            r"|\b(?:open|create|merge|file) (?:a|the|this) (?:pull request|pr|mr|merge request)\b"
            r"|\b(?:fix|debug|find|track down|solve) (?:the|this|that|a|our|my) (?:\w+ )?(?:failing |broken |flaky )?"
            r"(?:bug|tests?|build|crash|type errors?|stack ?trace|regression|memory leak|ci)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "it names files of a repository that a replay does not have",
        re.compile(
            rf"(?<![\w/.])(?:\./|\.\./|~/)[\w.-]+(?:/[\w.-]+)*"
            rf"|(?<![\w/.]){_FOLDER}/[\w.-]+(?:/[\w.-]+)*"
            rf"|(?<![\w/.])/?(?:[\w.-]+/)+[\w-]+\.{_FILE_ENDING}\b"
            rf"|\b[a-z]:\\[\w.-]+"
            rf"|\b{_ACT} (?:(?:the|my|our|file|lines? \d+ (?:of|in)|function \w+ in|bug in|error in"
            rf"|code in) )*`?[\w-]+\.{_FILE_ENDING}\b",
            re.IGNORECASE,
        ),
    ),
    (
        "it looks through a repository that a replay does not have",
        re.compile(
            r"\b(?:in|of|across|through|around|explore|search) (?:the|this|our|my)"
            r" (?:repo(?:sitory)?|codebase|code base|working tree)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "it needs a running service",
        re.compile(r"\b(?:localhost|127\.0\.0\.1)(?::\d+)?\b|\bstaging (?:server|environment)\b", re.IGNORECASE),
    ),
)


_WRITES_ABOUT: Final = frozenset({"write", "explain", "describe", "summarize", "translate", "rewrite"})
_MATERIAL: Final = _REASONS[2:]
"""What even a request that only writes needs to have at hand."""


def why_not_evaluable(prompt: str) -> str | None:
    """Why an offline replay cannot judge this request, in words; None if it can.

    A request that only writes *about* such things ("explain what pytest fixtures are") can be judged.
    """
    text = _URL.sub(" ", prompt) if "localhost" not in prompt and "127.0.0.1" not in prompt else prompt
    head = read_wording(text).head
    reasons = _MATERIAL if head and head[0] in _WRITES_ABOUT else _REASONS
    return next((reason for reason, pattern in reasons if pattern.search(text)), None)

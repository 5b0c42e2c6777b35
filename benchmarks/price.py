"""How near a plan's figures come to what a night takes: the demo's night over the Messages API, on loopback.

    python -m benchmarks.price

The service is the simulated model behind the real protocol; it counts tokens as four characters each, and prices are
those of the real models. The first plan knows nothing; the second knows how long replies were in the first night.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from skillopt_sleep import app
from skillopt_sleep.experiments.demo import DemoPlaces, lay_out
from skillopt_sleep.requests import RunRequest
from skillopt_sleep.views import PlanView, RunView
from tests.loopback.minds import simulated
from tests.loopback.server import Loopback


def main(strength: str = "mid") -> None:
    print("| night | calls: plan | took | never above | tokens: plan | took | cost: plan | took | never above |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, Loopback(simulated(strength)) as service:
        places = _over_http(lay_out(Path(folder) / "demo"), service.url)
        for name in ("first", "second"):
            _print(name, *_night(places))
            for state in ("cache", "gate", "memory"):  # the same again, as if nothing were known but the reports
                for file in (places.folder / "state").glob(f"{state}.sqlite3*"):
                    file.unlink()


def _over_http(places: DemoPlaces, url: str) -> DemoPlaces:
    environ = {**places.environment.environ, "ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": url}
    return replace(places, environment=replace(places.environment, environ=environ))


def _night(places: DemoPlaces) -> tuple[PlanView, RunView]:
    request = RunRequest(
        target_model="anthropic:haiku",
        optimizer_model="anthropic:sonnet",
        all_projects=True,
        since_days=3650,
        yes=True,
    )
    return app.plan(request, places.environment), app.run(request, places.environment)


def _print(name: str, plan: PlanView, view: RunView) -> None:
    rows = view.report.spend
    calls, tokens = sum(row.calls for row in rows), sum(row.tokens for row in rows)
    usd = sum(row.usd or 0.0 for row in rows)
    cells = (
        name,
        plan.expected_calls,
        f"{calls} ({_off(plan.expected_calls, calls)})",
        plan.most_calls,
        f"{plan.expected_tokens:,}",
        f"{tokens:,} ({_off(plan.expected_tokens, tokens)})",
        f"${plan.expected_usd or 0:.4f}",
        f"${usd:.4f} ({_off(plan.expected_usd or 0, usd)})",
        f"${plan.most_usd or 0:.2f}",
    )
    print(f"| {' | '.join(map(str, cells))} |")


def _off(planned: float, took: float) -> str:
    return f"{planned / took - 1:+.0%} planned" if took else "nothing"


if __name__ == "__main__":
    main(*sys.argv[1:])

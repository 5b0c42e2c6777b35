"""The gate's tests over nights, so that none is repeated and all on the same families share one alpha."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from skillopt_sleep.domain.errors import StateError
from skillopt_sleep.domain.gate_tests import GateTest
from skillopt_sleep.store.database import connection

_MIGRATIONS = (
    """
    CREATE TABLE gate_test (
        project TEXT NOT NULL, simulated INTEGER NOT NULL, id TEXT NOT NULL, record TEXT NOT NULL,
        PRIMARY KEY (project, simulated, id)
    )
    """,
)


class KeptGateTests:
    """The tests of one project. Looking at them creates nothing.

    Simulated nights keep an account of their own: what a simulated model makes of a family says nothing about the real
    one, and trying out the tool must not use up what real nights need.
    """

    def __init__(self, path: Path, project: str, *, simulated: bool) -> None:
        self._path = path
        self._key = (project, int(simulated))

    def all(self) -> tuple[GateTest, ...]:
        """Every test so far, oldest first.

        Raises `StateError` where one cannot be read: a test that is forgotten would be one chance more to be fooled.
        """
        if not self._path.exists():
            return ()
        with connection(self._path, _MIGRATIONS) as db:
            rows = db.execute(
                "SELECT record FROM gate_test WHERE project = ? AND simulated = ? ORDER BY rowid", self._key
            ).fetchall()
        try:
            return tuple(GateTest.model_validate_json(record) for (record,) in rows)
        except ValidationError as error:
            raise StateError(
                f"{self._path} holds a gate test that cannot be read.",
                hint="It keeps account of what was tested; move it away to begin anew.",
            ) from error

    def save(self, test: GateTest) -> None:
        """Keep a test, in place of what was kept of it before; its age stays."""
        with connection(self._path, _MIGRATIONS) as db:
            db.execute(
                "INSERT INTO gate_test (project, simulated, id, record) VALUES (?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET record = excluded.record",
                (*self._key, test.id, test.model_dump_json()),
            )

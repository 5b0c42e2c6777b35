"""`python -m skillopt_sleep` and the script `skillopt-sleep`."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line; returns the exit code."""
    from skillopt_sleep.cli import main as run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())

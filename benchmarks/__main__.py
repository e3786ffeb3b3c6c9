"""`python -m benchmarks --rows drain,claim --json bench.json`: exit status 1 if a figure misses its bar."""

import argparse
import os
import sys
from pathlib import Path

import environ

from benchmarks import EVERY_VERSION, LARGE, ROWS, postgresqls, run
from embedded import REPOSITORY, EmbeddedError, orphans, signals
from embedded.processes import Processes


def main() -> int:
    """Run the rows on each server; the exit status."""
    arguments = _arguments()
    environ.Env.read_env(REPOSITORY / ".env")  # a URL there replaces the embedded engines, as everywhere
    signals.on_stop(signals.leave)
    orphans.inherit()
    outcomes: list[run.Outcome] = []
    try:
        for place, server in enumerate(postgresqls.found(os.environ)):
            wanted = [row for row in arguments.rows if place == 0 or row in EVERY_VERSION]
            if wanted:
                outcomes += run.rows(wanted, server)
        return run.report(outcomes, arguments.json, postgresqls.missing(os.environ, arguments.rows))
    except EmbeddedError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2
    finally:
        orphans.sweep(spared=Processes())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--rows", type=_rows, default=list(ROWS), help=f"some of {','.join(ROWS)} (default: these), {','.join(LARGE)}"
    )
    parser.add_argument("--json", type=Path, default=Path("bench.json"), help="file for the figures (bench.json)")
    return parser.parse_args()


def _rows(words: str) -> list[str]:
    wanted = [word.strip() for word in words.split(",") if word.strip()]
    for row in wanted:
        if row not in (*ROWS, *LARGE):
            raise argparse.ArgumentTypeError(f"{row!r} is unknown; known: {', '.join((*ROWS, *LARGE))}")
    return wanted


if __name__ == "__main__":
    sys.exit(main())

"""`python -m benchmarks --rows drain,claim --json bench.json`: exit status 1 if a figure misses its bar."""

import argparse
import os
import sys
from pathlib import Path

import environ

from benchmarks import EVERY_VERSION, GROUPS, LARGE, ROWS, postgresqls, run
from embedded import REPOSITORY, EmbeddedError, orphans, signals
from embedded.processes import Processes

NAMED = (*LARGE, *GROUPS)  # what runs only when it is named


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
        "--rows", type=named, default=list(ROWS), help=f"some of {','.join(ROWS)} (default: these), {','.join(NAMED)}"
    )
    parser.add_argument("--json", type=Path, default=Path("bench.json"), help="file for the figures (bench.json)")
    return parser.parse_args()


def named(words: str) -> list[str]:
    """The rows of these names, with commas between them. Raises ArgumentTypeError if one is unknown."""
    wanted = [word.strip() for word in words.split(",") if word.strip()]
    for name in wanted:
        if name not in (*ROWS, *NAMED):
            raise argparse.ArgumentTypeError(f"{name!r} is unknown; known: {', '.join((*ROWS, *NAMED))}")
    return [row for name in wanted for row in GROUPS.get(name, (name,))]


if __name__ == "__main__":
    sys.exit(main())

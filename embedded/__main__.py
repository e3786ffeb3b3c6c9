"""The command line: `python -m embedded run [--throwaway] -- COMMAND [ARG...]` and `... up`."""

import argparse
import sys

import environ

from embedded import REPOSITORY, EmbeddedError
from embedded.run import run
from embedded.up import up


def main() -> int:
    """Exit status: the command's own, or 1 if the engines cannot start, or 2 for a wrong call."""
    arguments = _parser().parse_args()
    # Like settings.py, but earlier: a URL in `.env` also replaces the embedded engines.
    environ.Env.read_env(REPOSITORY / ".env")
    try:
        if arguments.verb == "up":
            return up()
        return run(arguments.command, throwaway=arguments.throwaway)
    except EmbeddedError as error:
        print(error, file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m embedded",
        description="Run a real PostgreSQL and a real Valkey beside the programs that need them.",
        epilog="DATA_DIR: the directory of the data (default .data). POSTGRESQL_BIN: the directory of the PostgreSQL "
        "programs (default: the wheel's, Debian's newest, or PATH's). A DATABASE_URL in the environment or .env "
        "replaces PostgreSQL; a CELERY_BROKER_URL together with a CACHE_URL replaces Valkey.",
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    run_parser = verbs.add_parser("run", help="run a command with the engines' URLs in its environment")
    run_parser.add_argument("--throwaway", action="store_true", help="use fresh data, removed afterwards")
    run_parser.add_argument("command", nargs="+", metavar="COMMAND", help="after `--`")
    verbs.add_parser("up", help="run engines, web and workers until Ctrl-C")
    return parser


if __name__ == "__main__":
    sys.exit(main())

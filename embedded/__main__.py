"""The command line: `python -m embedded run [--throwaway] -- COMMAND [ARG...]` and `... up`."""

import argparse
import os
import sys

import environ

from embedded import REPOSITORY, EmbeddedError, data_dir, engines, orphans, signals
from embedded.processes import Processes
from embedded.up import up


def main() -> int:
    """Run the command line. Return the exit status: the command's own; 1: the engines cannot start; 2: a wrong call."""
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


def run(argv: list[str], *, throwaway: bool) -> int:
    """Run `argv` with the engines' URLs in its environment; return its exit status, as a shell does.

    With `throwaway` the data is in a temporary directory, and may be lost in a crash of the machine.
    When this function returns, no process that was started beneath it is left.
    """
    signals.on_stop(signals.leave)
    orphans.inherit()
    with (
        data_dir.throwaway() if throwaway else data_dir.kept() as directory,
        Processes() as processes,
        engines.running(directory, processes, os.environ, durable=not throwaway) as environ,
    ):
        commands = Processes()
        try:
            command = commands.start(argv[0], argv, environ)
            # Ctrl-C reached only us: the command is in a session of its own, so it gets the signal once.
            signals.on_stop(command.signal_group)
            code = orphans.wait(command, processes)
        finally:
            signals.on_stop(signals.ignore)
            commands.stop()
            orphans.sweep(spared=processes)
    return code if code >= 0 else 128 - code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m embedded",
        description="Run a real PostgreSQL and a real Valkey beside the programs that need them.",
        epilog="DATA_DIR: the directory of the data (default .data). POSTGRESQL_BIN: the directory of the PostgreSQL "
        "programs (default: the wheel's, or PATH's). A DATABASE_URL in the environment or .env "
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

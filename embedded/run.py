"""`python -m embedded run`: run a command beside the engines."""

import os
from contextlib import AbstractContextManager
from pathlib import Path

from embedded import REPOSITORY, data_dir, engines, orphans, signals
from embedded.processes import Processes


def run(argv: list[str], *, throwaway: bool) -> int:
    """Run `argv` with the engines' URLs in its environment; return its exit status, as a shell does.

    With `throwaway` the data is in a temporary directory, and may be lost in a crash of the machine.
    When this returns, no process that was started beneath it is left.
    """
    signals.on_stop(signals.leave)
    orphans.inherit()
    place = data_dir.throwaway() if throwaway else kept_data()
    with (
        place as directory,
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


def kept_data() -> AbstractContextManager[Path]:
    """The permanent data directory: DATA_DIR, or `.data` in the repository."""
    return data_dir.kept(Path(os.environ.get("DATA_DIR") or REPOSITORY / ".data"))

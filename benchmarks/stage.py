"""Start, await and kill the processes of a row."""

import signal
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from embedded.fleet import Command
from embedded.process import Process
from embedded.processes import Processes


@contextmanager
def playing(directory: Path, name: str, command: Command) -> Iterator[Process]:
    """Run a process inside the block, with its log in `directory`. It is killed at the end, to save time."""
    with Processes() as processes:
        process = processes.start(name, *command, log=directory / f"{name}.log")
        try:
            yield process
        except AssertionError as error:
            lines = (directory / f"{name}.log").read_text(errors="replace").splitlines()[-15:]
            raise AssertionError("\n".join([str(error), f"The end of the log of {name}:", *lines])) from None
        finally:
            process.signal_group(signal.SIGKILL)


@contextmanager
def crew(directory: Path, commands: Sequence[Command]) -> Iterator[list[Process]]:
    """Run several inside the block, with their logs in `directory`: worker0.log, worker1.log, and so on."""
    with ExitStack() as stack:
        yield [stack.enter_context(playing(directory, f"worker{n}", command)) for n, command in enumerate(commands)]

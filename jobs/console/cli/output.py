"""The output of a command, which may fail: on a full disk, in a pipe whose reader has ended, on a closed stdout."""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.core.management.base import BaseCommand, CommandError, OutputWrapper

Style = Callable[[str], str] | None


class OutputFailed(CommandError):
    """The output could not be written: one line on stderr, and status 74 (EX_IOERR), which says nothing of the jobs."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the output cannot be written: {why}", returncode=os.EX_IOERR)


class Output(OutputWrapper):
    """The stdout of a command. It flushes each write, so that it fails here, and not when Python ends.

    A pipe whose reader has seen enough, such as `head`, is no fault: the command ends in silence, as the others in the
    pipe that SIGPIPE ends.
    """

    def write(self, msg: str = "", style_func: Style = None, ending: str | None = None) -> None:  # type: ignore[override]
        if self._out is None:  # Python was started with a closed stdout
            raise OutputFailed("stdout is closed")
        try:
            super().write(msg, style_func, ending)
            super().flush()
        except OSError as error:
            out: Any = self._out
            if out is sys.stdout:  # the rest of its buffer would fail again, and change the status to 120
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, out.fileno())
                os.close(null)
            if isinstance(error, BrokenPipeError):
                sys.exit(128 + signal.SIGPIPE)
            raise OutputFailed(error.strerror or type(error).__name__) from error


class Errors(OutputWrapper):
    """The stderr of a command. If it cannot be written, that cannot be reported; the status stays as it is."""

    def write(self, msg: str = "", style_func: Style = None, ending: str | None = None) -> None:  # type: ignore[override]
        with suppress(OSError):
            if self._out is not None:
                super().write(msg, style_func, ending)


class WritingCommand(BaseCommand):
    """A command with an exit status of its own for output that failed."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._write_to(self.stdout._out, self.stderr._out)

    def execute(self, *args: Any, **options: Any) -> str | None:
        given = (options.pop("stdout", None), options.pop("stderr", None))
        self._write_to(given[0] or self.stdout._out, given[1] or self.stderr._out)
        return super().execute(*args, **options)

    def _write_to(self, out: Any, err: Any) -> None:
        self.stdout, self.stderr = Output(out), Errors(err)
        self.stderr.style_func = self.style.ERROR

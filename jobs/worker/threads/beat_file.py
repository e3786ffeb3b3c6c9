"""The file whose age tells a probe whether this worker beats, without a Python and without a broker."""

from contextlib import suppress
from pathlib import Path

from jobs import telemetry
from jobs.conf import settings


class BeatFile:
    """The file that JOBS_BEAT_FILE names; without a name nothing happens.

    A worker begins by removing it: otherwise a probe would read the file of the process that died before.
    """

    def __init__(self) -> None:
        name = settings.JOBS_BEAT_FILE
        self._path = Path(name) if name else None
        self._fails = False

    def touch(self) -> None:
        """Make the file as old as this moment. A full disk must not end the worker: the log says it once."""
        if self._path is None:
            return
        try:
            self._path.touch()
        except OSError as error:
            if not self._fails:
                telemetry.noticed("beat file not written", error=error.strerror)
            self._fails = True
        else:
            self._fails = False

    def remove(self) -> None:
        """Remove the file: this worker does not beat, or not yet."""
        if self._path is not None:
            with suppress(OSError):
                self._path.unlink()

"""Watch whether the broker answers this process: a host that is cut off from it takes no message, and sends none.

A worker that the broker does not answer has no capacity for messages, does not lead if another can, and leaves the
messages of the jobs that it claims to the leader. So its broken connection costs other jobs no process, slot or time.
"""

import threading
from collections.abc import Callable
from time import monotonic

from jobs import telemetry
from jobs.conf import settings
from jobs.worker import message
from jobs.worker.threads.watchdog import Progress

PAUSE = 1.0  # seconds between two questions
SHORTEST_SILENCE = 3.0  # seconds that a busy machine may need to ask, whatever JOBS_HAND_OVER_TIMEOUT is


class Reach:
    """The thread that asks the broker again and again, until `stop` is set.

    takes: returns whether the worker takes messages, as far as Celery knows
    changed: called when the broker answers again, or has not answered for half of JOBS_HAND_OVER_TIMEOUT
    """

    def __init__(
        self,
        stop: threading.Event,
        takes: Callable[[], bool] = lambda: True,
        changed: Callable[[], object] = lambda: None,
    ) -> None:
        self._stop, self._takes, self._changed = stop, takes, changed
        self._answered_at = monotonic()

    @property
    def away(self) -> bool:
        """Return whether the broker is out of reach, or the worker does not take its messages."""
        return monotonic() - self._answered_at > max(settings.JOBS_HAND_OVER_TIMEOUT / 2, SHORTEST_SILENCE)

    def run(self, progress: Progress) -> None:
        """Ask until stopped. `progress` is not used: the broker may take as long as it likes."""
        away = False
        with message.Question() as question:
            while not self._stop.wait(PAUSE):
                if question.is_answered() and self._takes():
                    self._answered_at = monotonic()
                if away != self.away:
                    away = not away
                    if away:
                        telemetry.noticed("broker out of reach, this worker takes no messages")
                    else:
                        telemetry.begun("broker answers again, this worker takes messages")
                    self._changed()

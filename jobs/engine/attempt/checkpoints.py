"""The checkpoints of a running attempt: what its body has told, and what is stored of it."""

import json
import math
import time
from typing import Any

from django.db import connections

from jobs import store
from jobs.authoring.checkpoints import Checkpoints
from jobs.authoring.units import Units
from jobs.calls.arguments import as_json, size_of
from jobs.calls.refusals import InvalidRequest
from jobs.engine.process.host import AttemptHost
from jobs.lifecycle import HandBack
from jobs.store import Started

MAX_BYTES = 16 * 1024  # of a cursor, as JSON
STORE_AGAIN = 1.0  # seconds


class StoredCheckpoints(Checkpoints):
    """A body may reach thousands of checkpoints a second: each asks the process alone, and few are stored.

    told: the cursor that the body has told last, as JSON; None: it has told none.
    handed_back: why a checkpoint has asked it for its slot; None: none has.
    """

    def __init__(self, job: Started, host: AttemptHost, units: Units) -> None:
        super().__init__(job.cursor)
        self._held, self._host, self._units = (job.id, job.attempt, job.holder), host, units
        self._stored_at = -math.inf  # the first one at once: who asks for slots back looks for jobs that have a cursor
        self.told: str | None = None
        self.handed_back: HandBack | None = None

    def note(self, cursor: Any) -> bool:
        _refuse_inside_a_block()
        self.text = self.told = checked(cursor)
        return time.monotonic() - self._stored_at >= STORE_AGAIN

    def store(self) -> bool:
        self._stored_at = time.monotonic()
        return self._host.aside(store.checkpoint, *self._held, self.told, self._units.sums())

    def why_back(self) -> str:
        why = self._host.asked_back()
        self.handed_back = why or self.handed_back
        return why or ""


def _refuse_inside_a_block() -> None:
    """Raise RuntimeError inside `atomic()`: the block may be rolled back, and the cursor would say that it is done."""
    for connection in connections.all(initialized_only=True):
        of_a_test = connection.in_atomic_block and getattr(connection.atomic_blocks[-1], "_from_testcase", False)
        if connection.in_atomic_block and not of_a_test:
            raise RuntimeError("checkpoint() inside atomic(): call it after the block, when what it wrote is committed")


def checked(cursor: Any) -> str:
    """Return a cursor as JSON. Raises TypeError, naming the place, if it is none, and ValueError if it is too large."""
    try:
        value = as_json(cursor, "cursor")
    except InvalidRequest as refused:
        raise TypeError(f"checkpoint(): {refused}") from None
    text = json.dumps(value)
    size = size_of(value, text)
    if size > MAX_BYTES:
        raise ValueError(
            f"checkpoint(): cursor takes {size:,} bytes as JSON; at most {MAX_BYTES:,} bytes are allowed. "
            "Keep large values in your own tables, and their key in the cursor"
        )
    return text

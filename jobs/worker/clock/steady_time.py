"""Measure for how long time has passed steadily, so that no worker is declared gone because a clock was set."""

import time
from datetime import UTC, datetime

from jobs import store, telemetry
from jobs.conf import settings

LONGEST_SLEEP = 1.0  # seconds; also how soon another clock takes over, and how soon a stop is noticed


class SteadyTime:
    """The watch over steady time. After a disturbance all beats look old, and no worker is to blame for that.

    Disturbances are: an election, which follows an outage; a change of PostgreSQL's clock; a standstill of this process
    or of the database. After one, each worker gets time to beat again before any is declared gone.
    """

    def __init__(self) -> None:
        self._since = self._looked_at = time.monotonic()
        self._ahead: tuple[float, float] | None = None  # bounds of the lead of PostgreSQL's clock over ours

    @property
    def watched(self) -> float:
        """The seconds for which time has passed steadily."""
        return time.monotonic() - self._since

    def look(self) -> datetime:
        """Compare PostgreSQL's clock with ours, at each tick; return PostgreSQL's time."""
        before = time.monotonic()
        theirs = store.database_time()
        after = time.monotonic()
        ahead = (theirs - after, theirs - before)
        beat = settings.JOBS_BEAT_INTERVAL
        moved = 0.0 if self._ahead is None else max(ahead[0] - self._ahead[1], self._ahead[0] - ahead[1])
        if moved > beat:
            telemetry.noticed("the database's clock was set", seconds=f"{moved:.1f}")
        if moved > beat or after - self._looked_at > LONGEST_SLEEP + beat:
            self._since = after
        self._ahead, self._looked_at = ahead, after
        return datetime.fromtimestamp(theirs, UTC)

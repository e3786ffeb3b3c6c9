"""Whether time passes as it should, so that nobody is declared dead because a clock was set."""

import time

from django.conf import settings

from jobs import store, telemetry

LONGEST_SLEEP = 1.0  # seconds; also how soon another clock takes over, and how soon a stop is heard


class Time:
    """Whether time passes as it should. If not, every last beat is old, and nobody is to be blamed for it:

    after an election, which follows an outage; when PostgreSQL's clock was set; when this process, or the database,
    stood still. Then each worker gets the time to beat again before any is declared gone.
    """

    def __init__(self) -> None:
        self._since = self._looked_at = time.monotonic()
        self._ahead: tuple[float, float] | None = None  # of ours PostgreSQL's clock is, at least and at most

    @property
    def watched(self) -> float:
        """Seconds for which it has."""
        return time.monotonic() - self._since

    @property
    def latest(self) -> float:
        """What PostgreSQL's clock shows now, at most, if it was not set since the last look."""
        ahead = float("inf") if self._ahead is None else self._ahead[1]
        return time.monotonic() + ahead + float(settings.JOBS_BEAT_INTERVAL)

    def look(self) -> None:
        """Compare the two clocks, at each tick."""
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

"""The history: where ended jobs go, and how long they stay.

The table `jobs` keeps an ended job for JOBS_ARCHIVE_AFTER days. Then it moves into `job_history`, which has a
partition for each month. A partition is dropped JOBS_HISTORY_KEEP days after its month.
"""

import math
import time
from datetime import UTC, datetime, timedelta

from jobs import store
from jobs.conf import settings
from jobs.store import partitions

TABLE = "job_history"
DAY = 86_400.0  # seconds
TURN = 5.0  # seconds that one run takes at most: other duties wait meanwhile
FROM_THE_FIRST = 3600.0  # seconds between two looks at all ended jobs, also at those that were locked or revived
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


class Archive:
    """Moves ended jobs into the history. It remembers how far it came: jobs that must stay are not read again."""

    def __init__(self) -> None:
        self._since = BEGINNING
        self._began = -math.inf
        self._month: datetime | None = None

    def run(self) -> int:
        """Move jobs for a while; return their number."""
        if time.monotonic() - self._began >= FROM_THE_FIRST:
            self._since = BEGINNING
            self._began = time.monotonic()
        ends_at = time.monotonic() + TURN
        after = settings.JOBS_ARCHIVE_AFTER * DAY
        total = 0
        while time.monotonic() < ends_at and (first := store.next_to_archive(after, self._since)) is not None:
            moved = store.archive(after, first, self._partition_of(first))
            self._since = first if moved else first + timedelta(microseconds=1)  # past what is locked
            total += moved
        return total

    def _partition_of(self, moment: datetime) -> datetime:
        """Make the partition of that moment, unless it was the last one; return the end of the partition."""
        month, next_month = month_of(moment)
        if month != self._month:
            partitions.ensure(TABLE, month, next_month)
            self._month = month
        return next_month


def drop_old() -> None:
    """Drop the months that ended JOBS_HISTORY_KEEP days ago, and jobs of tenants that keep their history for less."""
    moment = store.database_now() - timedelta(days=settings.JOBS_HISTORY_KEEP)
    partitions.drop_before(TABLE, moment)
    while store.forget_old():
        pass


def month_of(moment: datetime) -> tuple[datetime, datetime]:
    """Return the first moment of the month of `moment`, in UTC, and of the next month."""
    first = moment.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return first, (first + timedelta(days=32)).replace(day=1)

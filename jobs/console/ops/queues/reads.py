"""Read what the page of queues shows besides the snapshot."""

from collections.abc import Mapping

from jobs.console.ops.shared import history
from jobs.console.ops.shared.present_queries import look
from jobs.console.ops.shared.snapshot import MAX_COUNT
from jobs.models import HELD_UNTIL
from jobs.pages.cached import PAST_SECONDS, cached
from jobs.reading import queries
from jobs.reading.statistics import Summary, summaries


@cached(PAST_SECONDS, before={})
def ended_in_last_hour() -> Mapping[tuple[str, ...], Summary]:
    """Summarise the attempts that ended in the last hour, by queue."""
    return summaries(queries.ended_in_queues(history.minute() - history.HOUR), (), "queue")


def held_types() -> dict[tuple[str, str], int]:
    """Count the held jobs of each paused type, among the first MAX_COUNT."""
    rows = look("look_held_types", held_until=HELD_UNTIL, most=MAX_COUNT)
    return {(source_type, method): jobs for source_type, method, jobs in rows}

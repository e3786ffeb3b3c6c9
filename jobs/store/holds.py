"""Lanes and queues that jobs hold: `raise RetryLater(60, hold="tenant")`. The end of the attempt writes the hold."""

from jobs.models import HELD_UNTIL
from jobs.store.rows import rows

WHOLE_QUEUE = 0  # in place of a tenant


def open_line(queue_id: int, tenant_id: int = WHOLE_QUEUE) -> int:
    """End the holds of a lane, or of a queue, now; return how many there were. The clock opens it at once."""
    holds, *_ = rows("open_line", queue_id=queue_id, tenant_id=tenant_id, held_until=HELD_UNTIL)[0]
    return int(holds)

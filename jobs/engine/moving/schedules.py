"""Stop the schedules of a tenant that moves, and let them go on where it is opened, as their `catch_up` says.

A schedule that stands keeps its due time; only the moment at which the clock looks at it is far away. So the clock
reads no more than before.
"""

from jobs.engine.schedules.plan import move
from jobs.models import HELD_UNTIL, Schedule


def stop(tenant_id: int) -> None:
    """Stop them, in the caller's transaction. It waits for the clock, if that runs one of them now."""
    Schedule.objects.filter(tenant_id=tenant_id, next_at__isnull=False).update(next_at=HELD_UNTIL)


def go_on(tenant_id: int) -> None:
    """Let them go on, in the caller's transaction."""
    standing = list(Schedule.objects.filter(tenant_id=tenant_id, next_due__isnull=False).in_turn())
    for schedule in standing:
        move(schedule, schedule.next_due)
    Schedule.objects.bulk_update(standing, ["next_at"])

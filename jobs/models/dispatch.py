"""The state of the dispatch: lanes, turns, buckets, the door; and the messages to it: arrivals and freed slots.

Only a dispatch writes lanes, queue turns, tenant buckets and the door itself, and only inside the door; so nobody waits
for a lock on them. All other code adds a row to `arrivals` or `freed_slots`, which waits for no lock; the next dispatch
removes the row.

Every change of such a row sets a new `version` from the sequence `door_seq`, and readers take the newest version by an
index. So a row that changed a million times during an old snapshot is still found at once: its dead versions come after
it in the index. References are plain numbers: a foreign key would wait for a transaction that deletes a tenant.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from tenants.names import named


class Arrival(models.Model):
    """Work came to a lane. The transaction that brings the work writes the row; the next dispatch takes it.

    head: the lowest place of a job that became ready; None if none did. jobs: the change of the number of waiting jobs.
    """

    pk = models.CompositePrimaryKey("xid", "queue_id", "tenant_id")
    xid = models.BigIntegerField()  # of the writer; a dispatch reads the rows newer than the last one's snapshot
    queue_id = models.BigIntegerField()
    tenant_id = models.BigIntegerField()
    head = models.BigIntegerField(null=True)
    jobs = models.IntegerField()

    class Meta:
        db_table = named("arrivals")

    def __str__(self) -> str:
        return f"{self.jobs} for queue {self.queue_id}, tenant {self.tenant_id}"


class FreedSlot(models.Model):
    """A tenant gave a slot back, or its limits changed (job_id 0): its closed lanes may open.

    seconds: the time that the slot was in use since the start, to be charged to its lane and queue. timeout: the limit
    of its last job. followed: the number of jobs of the lane that ran in that slot after the first; they no longer
    wait. lost_process: whether the attempt ended its process, which costs the time to replace it.
    """

    pk = models.CompositePrimaryKey("xid", "tenant_id", "job_id")
    xid = models.BigIntegerField()
    tenant_id = models.BigIntegerField()
    job_id = models.BigIntegerField()
    queue_id = models.BigIntegerField(null=True)
    seconds = models.FloatField(null=True)  # None: no slot was in use, and nothing is charged
    timeout = models.FloatField(null=True)
    followed = models.IntegerField(default=0, db_default=0)
    lost_process = models.BooleanField(default=False, db_default=False)

    class Meta:
        db_table = named("freed_slots")

    def __str__(self) -> str:
        return f"job {self.job_id} of tenant {self.tenant_id}: {self.seconds} s"


class Lane(models.Model):
    """One tenant's jobs in one queue: exactly one row.

    state: ready (in the circle, at `position`), empty (no job waits), or closed (its tenant cannot start jobs now).
    virtual_time: worker-seconds divided by the tenant's weight. head: no job waits at a lower place.
    """

    class State(models.TextChoices):
        READY = "ready"
        EMPTY = "empty"
        CLOSED = "closed"

    pk = models.CompositePrimaryKey("tenant_id", "queue_id", "version")
    tenant_id = models.BigIntegerField()
    queue_id = models.BigIntegerField()
    version = models.BigIntegerField()
    position = models.BigIntegerField()
    state = models.CharField(max_length=6, choices=State)
    virtual_time = models.FloatField()
    head = models.BigIntegerField()
    waiting = models.IntegerField()  # scheduled and created jobs, but for arrivals and for what follows in slots
    last_user = models.CharField(max_length=100, default="")  # the circle of its users continues after this one
    opens_at = models.DateTimeField(null=True)  # a closed lane: when the tenant's rate limit has its next token

    class Meta:
        db_table = named("lanes")
        indexes = [
            models.Index(fields=["queue_id", "position"], condition=Q(state="ready"), name="lanes_circle"),
            models.Index(fields=["opens_at"], condition=Q(opens_at__isnull=False), name="lanes_opening"),
        ]

    def __str__(self) -> str:
        return f"tenant {self.tenant_id} in queue {self.queue_id}: {self.state}"


class QueueTurn(models.Model):
    """A queue's position among the queues of its pool, and the circle of its lanes.

    virtual_time: worker-seconds divided by the queue's weight. pool_time: the time of its pool at the last change.
    lane_time: the virtual time of its lanes. head: the circle continues after this position. circle_end: the end of the
    round. round_least: the least virtual time met in the round. full_at: when the rate limit's bucket is full again.
    """

    pk = models.CompositePrimaryKey("queue_id", "version")
    queue_id = models.BigIntegerField()
    version = models.BigIntegerField()
    virtual_time = models.FloatField()
    pool_time = models.FloatField()
    lane_time = models.FloatField()
    head = models.BigIntegerField()
    circle_end = models.BigIntegerField()
    round_least = models.FloatField(null=True)
    full_at = models.DateTimeField(null=True)

    class Meta:
        db_table = named("queue_turns")

    def __str__(self) -> str:
        return f"queue {self.queue_id} at {self.virtual_time}"


class TenantBucket(models.Model):
    """The spent part of a tenant's rate limit. full_at: when the bucket is full again."""

    pk = models.CompositePrimaryKey("tenant_id", "version")
    tenant_id = models.BigIntegerField()
    version = models.BigIntegerField()
    full_at = models.DateTimeField()

    class Meta:
        db_table = named("tenant_buckets")

    def __str__(self) -> str:
        return f"tenant {self.tenant_id}: full at {self.full_at}"


class Door(models.Model):
    """The memory of the dispatches, of which one decides at a time: one row.

    It makes the jobs in use easy to find: those with a ticket above the horizon, and the survivors, which are the
    tickets below it that were in use when it was set. since, unseen: arrivals and freed slots were taken up to the end
    of this snapshot, except those of the transactions that were under way then.
    """

    version = models.BigIntegerField(primary_key=True)
    horizon = models.BigIntegerField()
    survivors = ArrayField(models.BigIntegerField())
    since = models.BigIntegerField()
    unseen = ArrayField(models.BigIntegerField())

    class Meta:
        db_table = named("door")

    def __str__(self) -> str:
        return f"horizon {self.horizon}"

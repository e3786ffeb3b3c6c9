"""What the door keeps, and what it is told.

Only a dispatch writes lanes, queue turns, tenant buckets and the door itself, and only inside the door; so nobody waits
for anybody's lock on them. Everybody else tells it by adding a row to `arrivals` or `freed_slots`,
which waits for nobody, and which the next dispatch takes away.

Every change of such a row gives it a new `version`, from the sequence `door_seq`, and whoever reads takes the newest by
an index. So a row that changed a million times while somebody holds an old snapshot is still found at once: the dead
versions lie behind it. References are plain numbers: a foreign key would wait for somebody who deletes a tenant.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q


class Arrival(models.Model):
    """Work has come to a lane. Written in the transaction that brings it; taken by the next dispatch.

    head: the least place of a job that became ready, None if none did. jobs: how many more wait (fewer, if negative).
    """

    pk = models.CompositePrimaryKey("xid", "queue_id", "tenant_id")
    xid = models.BigIntegerField()  # of the writing transaction: one dispatch looks behind the snapshot of the last one
    queue_id = models.BigIntegerField()
    tenant_id = models.BigIntegerField()
    head = models.BigIntegerField(null=True)
    jobs = models.IntegerField()

    class Meta:
        db_table = "arrivals"

    def __str__(self) -> str:
        return f"{self.jobs} for queue {self.queue_id}, tenant {self.tenant_id}"


class FreedSlot(models.Model):
    """A tenant gave a slot back, or its limits changed (job_id 0): its closed lanes may open.

    seconds: what the attempt worked, to be charged to its lane and queue. timeout: the most that it may be charged.
    followed: how many jobs of the lane were run in that slot one after the other; they wait no more.
    """

    pk = models.CompositePrimaryKey("xid", "tenant_id", "job_id")
    xid = models.BigIntegerField()
    tenant_id = models.BigIntegerField()
    job_id = models.BigIntegerField()
    queue_id = models.BigIntegerField(null=True)
    seconds = models.FloatField(null=True)  # None: the attempt had not started, and is charged nothing
    timeout = models.FloatField(null=True)
    followed = models.IntegerField(default=0, db_default=0)

    class Meta:
        db_table = "freed_slots"

    def __str__(self) -> str:
        return f"job {self.job_id} of tenant {self.tenant_id}: {self.seconds} s"


class Lane(models.Model):
    """One tenant's jobs in one queue. Exactly one row, however often it changed.

    state: ready (in the circle, at `position`), empty (no job waits), or closed (its tenant may start none now).
    virtual_time: worker-seconds divided by the tenant's weight. head: no job waits at a lesser place.
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
    waiting = models.IntegerField()  # about: scheduled and created jobs
    last_user = models.CharField(max_length=100, default="")  # where the circle of its users goes on
    opens_at = models.DateTimeField(null=True)  # when a closed one has the next token of its tenant's rate limit

    class Meta:
        db_table = "lanes"
        indexes = [
            models.Index(fields=["queue_id", "position"], condition=Q(state="ready"), name="lanes_circle"),
            models.Index(fields=["opens_at"], condition=Q(opens_at__isnull=False), name="lanes_opening"),
        ]

    def __str__(self) -> str:
        return f"tenant {self.tenant_id} in queue {self.queue_id}: {self.state}"


class QueueTurn(models.Model):
    """A queue's place among the queues of its pool, and the circle of its lanes.

    virtual_time: worker-seconds divided by the queue's weight. pool_time: the time of its pool, as it was then.
    lane_time: that of its lanes. head: the circle goes on behind this position. circle_end: the round ends there.
    round_least: the least virtual time met in it. full_at: when the rate limit's bucket will be full again.
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
        db_table = "queue_turns"

    def __str__(self) -> str:
        return f"queue {self.queue_id} at {self.virtual_time}"


class TenantBucket(models.Model):
    """What a tenant has spent of its rate limit. full_at: when the bucket will be full again."""

    pk = models.CompositePrimaryKey("tenant_id", "version")
    tenant_id = models.BigIntegerField()
    version = models.BigIntegerField()
    full_at = models.DateTimeField()

    class Meta:
        db_table = "tenant_buckets"

    def __str__(self) -> str:
        return f"tenant {self.tenant_id}: full at {self.full_at}"


class Door(models.Model):
    """The memory of the one dispatch that decides at a time: one row.

    What is in use is found without looking at what was: jobs with a ticket above the horizon, and the survivors, which
    are the tickets below it that were in use when it was set. since, unseen: the end of the snapshot up to which
    arrivals and freed slots were taken, and the transactions that were under way then.
    """

    version = models.BigIntegerField(primary_key=True)
    horizon = models.BigIntegerField()
    survivors = ArrayField(models.BigIntegerField())
    since = models.BigIntegerField()
    unseen = ArrayField(models.BigIntegerField())

    class Meta:
        db_table = "door"

    def __str__(self) -> str:
        return f"horizon {self.horizon}"

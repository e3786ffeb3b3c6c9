"""The books of the dispatch: lanes, queue turns, tenant books, the door. Its inbox: arrivals and freed slots.

Only a dispatch writes lanes, queue turns, tenant books and the door itself, and only inside the door. So no transaction
waits for a lock on them. All other code adds a row to `arrivals` or `freed_slots`, which waits for no lock; the next
dispatch removes the row.

Every change of such a row sets a new `version` from the sequence `door_seq`, and readers take the newest version by an
index. So a row that changed a million times during an old snapshot is still found at once: its dead versions come after
it in the index. References are plain numbers: a foreign key would wait for a transaction that deletes a tenant.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from plumbing.names import named


class Arrival(models.Model):
    """Work came to a lane. The transaction that brings the work writes the row; the next dispatch takes it.

    head: the lowest place of a job that became ready; None if none did.
    jobs: the change of the number of waiting jobs.
    """

    pk = models.CompositePrimaryKey("xid", "queue_id", "tenant_id")
    xid = models.BigIntegerField()  # of the writer; a dispatch reads the rows newer than the last one's snapshot
    queue_id = models.BigIntegerField()
    tenant_id = models.BigIntegerField()
    head = models.BigIntegerField(null=True)
    jobs = models.IntegerField()

    class Meta:
        db_table = named("arrivals")


class FreedSlot(models.Model):
    """A tenant gave a slot back, or its limits changed (job_id 0): its closed lanes may open.

    Without a tenant (tenant_id 0): a queue has other slots for each tenant.

    slot, ticket, user_key: of the job, to be taken off the books; null if no slot was in use.
    seconds: the time that the slot was in use since the start, to be charged to its lane and queue.
    timeout: the time limit of the last job in the slot, in seconds.
    followed: the number of jobs of the lane that ran in that slot after the first; they no longer wait.
    lost_process: whether the attempt ended its process, which costs the time to replace it.
    holds: whether `holds` has news of its lane or its queue.
    units: what the attempt used, by month and unit, to be added to the book of its tenant.
    """

    pk = models.CompositePrimaryKey("xid", "tenant_id", "job_id")
    xid = models.BigIntegerField()
    tenant_id = models.BigIntegerField()
    job_id = models.BigIntegerField()
    queue_id = models.BigIntegerField(null=True)
    user_key = models.CharField(max_length=100, null=True)  # noqa: DJ001 - null: of an older release
    slot = models.PositiveIntegerField(null=True)
    ticket = models.BigIntegerField(null=True)
    seconds = models.FloatField(null=True)  # None: no slot was in use, and nothing is charged
    timeout = models.FloatField(null=True)
    followed = models.IntegerField(default=0, db_default=0)
    lost_process = models.BooleanField(default=False, db_default=False)
    holds = models.BooleanField(default=False, db_default=False)
    units = models.JSONField(null=True)

    class Meta:
        db_table = named("freed_slots")


class Hold(models.Model):
    """A job holds its lane, or its whole queue (tenant_id 0), until a moment: `raise RetryLater(60, hold="tenant")`.

    The end of the attempt writes the row. The clock deletes it when the moment has come and the job is in line again;
    the next fold opens the line. Several rows may hold one line: the latest of them counts.

    owner_id: the tenant of the job.
    why: what the job said, for people.
    """

    pk = models.CompositePrimaryKey("queue_id", "tenant_id", "job_id", "attempt")
    queue_id = models.BigIntegerField()
    tenant_id = models.BigIntegerField()
    job_id = models.BigIntegerField()
    attempt = models.IntegerField()
    owner_id = models.BigIntegerField()
    held_at = models.DateTimeField()
    until = models.DateTimeField()
    why = models.CharField(max_length=200)

    class Meta:
        db_table = named("holds")
        indexes = [models.Index(fields=["until"], name="holds_until")]


class Lane(models.Model):
    """One tenant's jobs in one queue: exactly one row.

    state: ready (in the circle, at `position`), empty (no job waits), closed (its tenant cannot start jobs now), full
    (it holds all slots that its tenant may have in the queue), held (by one of its jobs: a row of `holds` says so).
    virtual_time: worker-seconds divided by the tenant's weight.
    head: no job waits at a lower place.
    opened_at: when it was last no longer closed, full or held. Until then its tenant's own limits held its jobs.
    in_use: its jobs in slots.
    tickets: the sum of their tickets, so that in_use * now - tickets is the time that they have had their slots.
    """

    class State(models.TextChoices):
        READY = "ready"
        EMPTY = "empty"
        CLOSED = "closed"
        FULL = "full"
        HELD = "held"

    pk = models.CompositePrimaryKey("tenant_id", "queue_id", "version")
    tenant_id = models.BigIntegerField()
    queue_id = models.BigIntegerField()
    version = models.BigIntegerField()
    position = models.BigIntegerField()
    state = models.CharField(max_length=6, choices=State)
    virtual_time = models.FloatField()
    head = models.BigIntegerField()
    waiting = models.IntegerField()  # scheduled and created jobs, without arrivals and those that follow in slots
    last_user = models.CharField(max_length=100, default="")  # the circle of its users continues after this one
    opens_at = models.DateTimeField(null=True)  # of a closed lane: at the tenant's next token; a far moment: it rests
    opened_at = models.DateTimeField(null=True)
    in_use = models.IntegerField(default=0, db_default=0)
    tickets = models.BigIntegerField(default=0, db_default=0)  # milliseconds

    class Meta:
        db_table = named("lanes")
        constraints = [models.CheckConstraint(condition=Q(in_use__gte=0), name="lanes_in_use_from_0")]
        indexes = [
            models.Index(fields=["queue_id", "position"], condition=Q(state="ready"), name="lanes_circle"),
            models.Index(fields=["opens_at"], condition=Q(opens_at__isnull=False), name="lanes_opening"),
            models.Index(
                fields=["tenant_id", "version"], condition=Q(state__in=["closed", "full"]), name="lanes_closed"
            ),
        ]


class QueueTurn(models.Model):
    """A queue's position among the queues of its pool, and the circle of its lanes.

    virtual_time: worker-seconds divided by the queue's weight.
    pool_time: the virtual time of its pool at the last change.
    lane_time: the virtual time of its lanes.
    head: the circle continues after this position.
    circle_end: the position at which the round ends.
    round_least: the least virtual time met in the round.
    growth: of lane_time per second since timed_at: the least jobs in slots of a lane, divided by its weight.
    round_growth: the least growth met in the round.
    full_at: when the rate limit's bucket is full again, under the limit full_limit in full_window.
    in_use, tickets: as in a lane.
    mean_seconds: a moving mean of the seconds that an attempt is charged.
    state: ready (lanes are in the circle) or empty (none is). If no job has a slot either, keeps (it keeps the pool's
    time) or asleep (no pass reads it).
    opened_at: when no job held the queue any longer; the end of time while one does.
    """

    class State(models.TextChoices):
        READY = "ready"
        EMPTY = "empty"
        KEEPS = "keeps"
        ASLEEP = "asleep"

    pk = models.CompositePrimaryKey("queue_id", "version")
    queue_id = models.BigIntegerField()
    version = models.BigIntegerField()
    virtual_time = models.FloatField(default=0, db_default=0)
    pool_time = models.FloatField(default=0, db_default=0)
    lane_time = models.FloatField(default=0, db_default=0)
    head = models.BigIntegerField(default=0, db_default=0)
    circle_end = models.BigIntegerField(default=0, db_default=0)
    round_least = models.FloatField(null=True)
    growth = models.FloatField(default=0, db_default=0)
    round_growth = models.FloatField(null=True)
    timed_at = models.DateTimeField(null=True)
    full_at = models.DateTimeField(null=True)
    full_limit = models.IntegerField(null=True)
    full_window = models.FloatField(null=True)
    in_use = models.IntegerField(default=0, db_default=0)
    tickets = models.BigIntegerField(default=0, db_default=0)  # milliseconds
    mean_seconds = models.FloatField(default=0, db_default=0)
    state = models.CharField(max_length=6, choices=State, default=State.READY, db_default=State.READY)
    opened_at = models.DateTimeField(null=True)

    class Meta:
        db_table = named("queue_turns")
        constraints = [models.CheckConstraint(condition=Q(in_use__gte=0), name="queue_turns_in_use_from_0")]
        indexes = [models.Index(fields=["version"], condition=~Q(state="asleep"), name="queue_turns_awake")]


class Numbers(models.Field):  # type: ignore[type-arg]
    """A set of integers, as ranges: psycopg's Multirange."""

    def db_type(self, connection: object) -> str:
        return "int4multirange"


class TenantBook(models.Model):
    """What a tenant has in use, in all its lanes: exactly one row for a tenant that has a lane.

    slots: the numbers of the slots in use.
    users: the slots in use of each user who has any; None if the tenant does not limit its users.
    full_at: when the bucket of its rate limit is full again, as in a queue's turn.
    opened: a version before which its closed lanes were all opened.
    used: what its attempts used, by month (UTC) and unit: this month and the last one.
    """

    pk = models.CompositePrimaryKey("tenant_id", "version")
    tenant_id = models.BigIntegerField()
    version = models.BigIntegerField()
    in_use = models.IntegerField()
    slots = Numbers()
    users = models.JSONField(null=True)
    full_at = models.DateTimeField(null=True)
    full_limit = models.IntegerField(null=True)
    full_window = models.FloatField(null=True)
    opened = models.BigIntegerField(default=0, db_default=0)
    used = models.JSONField(null=True)

    class Meta:
        db_table = named("tenant_books")
        constraints = [models.CheckConstraint(condition=Q(in_use__gte=0), name="tenant_books_in_use_from_0")]


class SpentBudget(models.Model):
    """A tenant has used up its budget of a unit for this month: jobs that spend it are held.

    As the books, only a dispatch writes it, and only inside the door (the function `spend`).
    """

    pk = models.CompositePrimaryKey("tenant_id", "unit")
    tenant_id = models.BigIntegerField()
    unit = models.CharField(max_length=40)
    since = models.DateTimeField()

    class Meta:
        db_table = named("spent_budgets")


class Door(models.Model):
    """The memory of the dispatches, of which one decides at a time: one row.

    since: the end of a snapshot, up to which the dispatches have taken the arrivals and the freed slots.
    unseen: the transactions that were under way in that snapshot; their rows have not been taken.
    floor: no queue that is awake has an older version of its turn.
    """

    version = models.BigIntegerField(primary_key=True)
    since = models.BigIntegerField()
    unseen = ArrayField(models.BigIntegerField())
    floor = models.BigIntegerField(default=0, db_default=0)

    class Meta:
        db_table = named("door")

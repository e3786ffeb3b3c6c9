"""Statistics: the log of ended attempts, and the tables that the recorder makes from it.

`attempts`, `job_minutes` and `tenant_hours` are partitioned by day (see the migration), and old days are dropped whole.
References are plain numbers, so that nothing here waits for, or keeps, a row of another table.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from plumbing.names import named

BUCKETS = 41  # of a histogram: one more than `jobs.reading.statistics.BOUNDS`


class Attempt(models.Model):
    """An attempt that ended. The statement that ends it adds the row, and no statement changes it.

    The table itself has no primary key: a unique index would cost time at each end of an attempt.

    outcome: the job's new status if that is final, else `retry`, `snooze`, `hand_back`, `wait_for`, `crash`, `stopped`.
    peak_memory: MiB.
    """

    pk = models.CompositePrimaryKey("ended_at", "job_id", "attempt")
    ended_at = models.DateTimeField()
    start_time = models.DateTimeField()
    queued_at = models.DateTimeField(null=True)
    waited_since = models.DateTimeField(null=True)  # when the job became ready
    own_until = models.DateTimeField(null=True)  # until then its tenant's own limits held it
    job_id = models.BigIntegerField()
    tenant_id = models.BigIntegerField()
    queue_id = models.BigIntegerField()
    worker = models.UUIDField(null=True)
    worker_pid = models.IntegerField(null=True)  # null: of an older release
    attempt = models.IntegerField()
    result_bytes = models.IntegerField(null=True)
    peak_memory = models.IntegerField(null=True)
    priority = models.SmallIntegerField()
    outcome = models.CharField(max_length=9)
    source_type = models.CharField(max_length=200)
    source_method = models.CharField(max_length=100)
    user_key = models.CharField(max_length=100)
    units = models.JSONField(null=True)  # what it used, by unit

    class Meta:
        db_table = named("attempts")


class Tally(models.Model):
    """Attempts of one job type in one queue with one outcome: their number, seconds, and two histograms.

    Bucket 0 of a histogram ends at the first of `jobs.reading.statistics.BOUNDS`.

    run_*: from start to end.
    wait_*: from ready to start.
    process_wait_*: the part of it in which the tenant's own limits did not hold the job.
    targeted: those whose queue had a wait target when they started.
    in_time: those of them that waited for a process no longer than that.
    """

    queue_id = models.BigIntegerField()
    source_type = models.CharField(max_length=200)
    source_method = models.CharField(max_length=100)
    outcome = models.CharField(max_length=9)
    attempts = models.IntegerField()
    run_seconds = models.FloatField()
    wait_seconds = models.FloatField()
    run_buckets = ArrayField(models.IntegerField())
    wait_buckets = ArrayField(models.IntegerField())
    process_wait_seconds = models.FloatField(db_default=0)  # here and below: an older release writes none
    process_wait_buckets = ArrayField(models.IntegerField(), db_default=[0] * BUCKETS)
    targeted = models.IntegerField(db_default=0)
    in_time = models.IntegerField(db_default=0)

    class Meta:
        abstract = True


class JobMinute(Tally):
    """The attempts of all tenants that ended in this minute."""

    pk = models.CompositePrimaryKey("minute", "queue_id", "source_type", "source_method", "outcome")
    minute = models.DateTimeField()

    class Meta:
        db_table = named("job_minutes")


class TenantHour(Tally):
    """The attempts of a tenant that ended in this hour."""

    pk = models.CompositePrimaryKey("tenant_id", "hour", "queue_id", "source_type", "source_method", "outcome")
    tenant_id = models.BigIntegerField()
    hour = models.DateTimeField()
    units = models.JSONField(null=True)

    class Meta:
        db_table = named("tenant_hours")


class Total(Tally):
    """The attempts of all tenants since the first minute: the numbers only grow."""

    pk = models.CompositePrimaryKey("queue_id", "source_type", "source_method", "outcome")
    attempts = models.BigIntegerField()
    run_buckets = ArrayField(models.BigIntegerField())
    wait_buckets = ArrayField(models.BigIntegerField())
    process_wait_buckets = ArrayField(models.BigIntegerField(), db_default=[0] * BUCKETS)
    targeted = models.BigIntegerField(db_default=0)
    in_time = models.BigIntegerField(db_default=0)

    class Meta:
        db_table = named("totals")


class Sample(models.Model):
    """The work under way at a moment of this minute: objects by the id of a tenant or queue, or the name of a pool."""

    at = models.DateTimeField(primary_key=True)
    tenants = models.JSONField()  # in_use, slots, waiting, seconds entitled to in this minute; of tenants with work
    queues = models.JSONField()  # in_use, waiting; of queues with work
    pools = models.JSONField()  # in_use, processes, may_run
    states = models.JSONField(default=dict, db_default={})  # the number of tenants with work in each state
    fairness = models.FloatField(null=True)  # Jain's index of what tenants got of their shares in the last hour

    class Meta:
        db_table = named("samples")


class TenantShare(models.Model):
    """The seconds of processes that a tenant got, and was entitled to. The recorder adds each minute; older ones fade.

    got, entitled: in about the last 5 minutes.
    got_hour, entitled_hour: in about the last hour.
    """

    tenant_id = models.BigIntegerField(primary_key=True)
    got = models.FloatField()
    entitled = models.FloatField()
    got_hour = models.FloatField()
    entitled_hour = models.FloatField()

    class Meta:
        db_table = named("tenant_shares")


class FullHour(models.Model):
    """The minutes of an hour of the last day in which all slots of a tenant were in use while jobs waited for one."""

    pk = models.CompositePrimaryKey("hour", "tenant_id")
    hour = models.DateTimeField()
    tenant_id = models.BigIntegerField()
    minutes = models.PositiveSmallIntegerField()

    class Meta:
        db_table = named("full_hours")


class SlotHour(models.Model):
    """The work in the slots of a tenant in an hour of the last day.

    seconds: those that processes worked, of all its jobs.
    most: the most slots in use, as the recorder found them, or as the work of a minute needs at least.
    """

    pk = models.CompositePrimaryKey("hour", "tenant_id")
    hour = models.DateTimeField()
    tenant_id = models.BigIntegerField()
    seconds = models.FloatField()
    most = models.PositiveIntegerField()

    class Meta:
        db_table = named("slot_hours")


class Recorded(models.Model):
    """The progress of the recorder with one of its tasks. A recorder that works on the task holds the row's lock.

    The clock itself writes the row "missed": up to when no clock ran, and when it last looked.
    """

    task = models.CharField(max_length=20, primary_key=True)
    upto = models.DateTimeField()
    at = models.DateTimeField()  # when it last looked
    seconds = models.FloatField(null=True)  # that a forecast took
    late = models.JSONField(null=True)  # of the task "may run": by pool; see jobs/recording/may_run.py

    class Meta:
        db_table = named("recorded")

"""The records that a replay needs beside the log of attempts: limits, processes, and the jobs that left the line.

Triggers write the limits and the jobs that left, so any SQL counts; the recorder writes the processes. References are
plain numbers, so that nothing here keeps a row of another table.
"""

from django.db import models

from plumbing.names import named


class LimitChange(models.Model):
    """The limits of a tenant or a queue from that moment on, or a job type that is paused from then on.

    subject: the id of the tenant, of the queue, or of the row of the paused type.
    limits: the columns that decide which jobs run, and the wait target of a queue. None: the subject is gone.
    """

    class Kind(models.TextChoices):
        TENANT = "tenant"
        QUEUE = "queue"
        JOB_TYPE = "job_type"

    at = models.DateTimeField()
    kind = models.CharField(max_length=8, choices=Kind)
    subject = models.BigIntegerField()
    limits = models.JSONField(null=True)

    class Meta:
        db_table = named("limit_changes")
        default_permissions = ()
        indexes = [models.Index(fields=["kind", "subject", "id"], name="limit_changes_of_subject")]


class PoolChange(models.Model):
    """The processes of a pool from that moment on.

    seats: of each process of a light pool; null for an ordinary one.
    leaving: jobs that still run in workers which take no more.
    """

    pk = models.CompositePrimaryKey("pool", "at")
    pool = models.CharField(max_length=50)
    at = models.DateTimeField()
    processes = models.PositiveIntegerField()
    seats = models.PositiveSmallIntegerField(null=True)
    leaving = models.PositiveIntegerField()

    class Meta:
        db_table = named("pool_changes")
        default_permissions = ()


class LeftLine(models.Model):
    """A job that was ready, and left the line without an attempt.

    why: its reason, or its status from then on.
    """

    at = models.DateTimeField()
    ready_at = models.DateTimeField()
    job_id = models.BigIntegerField()
    tenant_id = models.BigIntegerField()
    queue_id = models.BigIntegerField()
    priority = models.SmallIntegerField()
    user_key = models.CharField(max_length=100)
    source_type = models.CharField(max_length=200)
    source_method = models.CharField(max_length=100)
    why = models.CharField(max_length=200)

    class Meta:
        db_table = named("left_line")
        default_permissions = ()
        indexes = [models.Index(fields=["at"], name="left_line_by_time")]

"""The history of ended jobs, and the views of all jobs and of all failed attempts."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from jobs.models.job import FailedAttemptRow, JobRow
from jobs.models.queue import Queue
from plumbing.names import named
from tenants.conf import TENANT_MODEL
from tenants.tenant_key import TenantKey

# References without constraints: the archive must not wait for a transaction that has a tenant locked.


class ArchivedJob(JobRow):
    """A job that has left the table `jobs`. The table is partitioned by month of `end_time` (ADR 0018)."""

    pk = models.CompositePrimaryKey("id", "end_time")
    id = models.BigIntegerField()
    tenant = TenantKey(TENANT_MODEL, models.CASCADE, db_index=False, db_constraint=False, related_name="+")
    queue = models.ForeignKey(Queue, models.PROTECT, db_index=False, db_constraint=False, related_name="+")
    end_time = models.DateTimeField()
    predecessors = ArrayField(models.BigIntegerField(), null=True)
    failed_attempts = models.JSONField()  # a list of objects with the columns of FailedAttemptRow

    class Meta:
        db_table = named("job_history")
        indexes = [
            models.Index(fields=["tenant", "-id"], name="job_history_of_tenant"),
            models.Index(fields=["batch_id", "-id"], condition=Q(batch_id__isnull=False), name="job_history_of_batch"),
            # The deletion after a tenant's own retention reads this index.
            models.Index(fields=["tenant", "end_time"], name="job_history_by_end"),
        ]


class AnyJob(JobRow):
    """A job of `jobs` or of its history: a view. Its columns are those of JobRow; a test compares them."""

    id = models.BigIntegerField(primary_key=True)

    class Meta:
        db_table = named("all_jobs")
        managed = False
        default_permissions = ()


class AnyFailedAttempt(FailedAttemptRow):
    """A failed attempt of any job: a view."""

    pk = models.CompositePrimaryKey("job_id", "attempt")
    job_id = models.BigIntegerField()

    class Meta:
        db_table = named("all_failed_attempts")
        managed = False
        default_permissions = ()

"""Batches: jobs that belong together, and how many of them have ended."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from plumbing.names import named
from tenants.conf import TENANT_MODEL
from tenants.tenant_key import TenantKey


class Batch(models.Model):
    """Jobs of one tenant. Others may be added while it is open; its own running jobs may add to it later, too.

    Jobs and batches share one series of numbers, so a job waits for one number, of a job or of a batch.
    The statement that adds jobs writes the row; one that ends a job does not.

    added: the number of its jobs.
    """

    id = models.BigIntegerField(primary_key=True)
    tenant = TenantKey(TENANT_MODEL, models.CASCADE, db_index=False, db_constraint=False, related_name="+")
    name = models.CharField(max_length=200)
    user_key = models.CharField(max_length=100, default="", blank=True)
    created_at = models.DateTimeField(db_default=Now())
    closed_at = models.DateTimeField(null=True)  # null: it is open
    added = models.IntegerField(default=0, db_default=0)

    class Meta:
        db_table = named("batches")
        verbose_name_plural = "batches"
        constraints = [models.CheckConstraint(condition=Q(added__gte=0), name="batches_added_from_0")]
        indexes = [models.Index(fields=["tenant", "-id"], name="batches_of_tenant")]

    def __str__(self) -> str:
        return f"batch {self.pk}: {self.name}"


class BatchTally(models.Model):
    """The numbers of a batch's ended jobs, by status.

    Only the dispatch that reads the ends of jobs writes it (`jobs/engine/door/unblock.py`). The deletion of a tenant
    leaves it for `prune`: otherwise that dispatch would wait for the deletion, and the waiting jobs of all tenants too.
    """

    batch = models.OneToOneField(Batch, models.DO_NOTHING, primary_key=True, db_constraint=False, related_name="tally")
    success = models.IntegerField(default=0, db_default=0)
    error = models.IntegerField(default=0, db_default=0)
    dead = models.IntegerField(default=0, db_default=0)
    cancelled = models.IntegerField(default=0, db_default=0)

    class Meta:
        db_table = named("batch_tallies")
        default_permissions = ()


class BatchCancel(models.Model):
    """A cancel of a batch that is under way. The row is deleted when it has reached all jobs.

    tenant_id: the tenant that asked for it. Null: an operator did.
    bulk: the id that its entries in the audit log share.
    after: the id of the last job that it has reached.
    """

    batch = models.OneToOneField(Batch, models.CASCADE, primary_key=True, db_constraint=False, related_name="+")
    tenant_id = models.BigIntegerField(null=True)
    bulk = models.UUIDField()
    after = models.BigIntegerField(default=0, db_default=0)

    class Meta:
        db_table = named("batch_cancels")
        default_permissions = ()

"""Webhooks: where a tenant's system is told how its jobs ended, and the ends that are still to be told."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from tenants.conf import TENANT_MODEL
from tenants.names import named
from tenants.tenant_key import TenantKey


class WebhookEndpoint(models.Model):
    """An address of a tenant's own system. It is off from `off_at` on.

    types: job types as reports.datareport.execute; empty: all. batches: their names; empty: also jobs of no batch.
    salt: its secret is derived from it, and is not stored.
    """

    tenant = TenantKey(TENANT_MODEL, models.CASCADE, db_constraint=False, related_name="+")
    url = models.CharField(max_length=500)
    types = ArrayField(models.CharField(max_length=301), default=list, blank=True)
    batches = ArrayField(models.CharField(max_length=200), default=list, db_default=[], blank=True)
    salt = models.CharField(max_length=64)
    created_at = models.DateTimeField(db_default=Now())
    failing_since = models.DateTimeField(null=True)  # the first failure since the last message that was taken
    last_error = models.CharField(max_length=300, default="")
    off_at = models.DateTimeField(null=True)

    class Meta:
        db_table = named("webhook_endpoints")

    def __str__(self) -> str:
        return self.url


class WebhookEvent(models.Model):
    """The end of a job whose tenant had an endpoint when it was submitted. The clock takes it, and submits messages."""

    id = models.BigAutoField(primary_key=True)
    tenant_id = models.BigIntegerField(db_index=True)
    job_id = models.BigIntegerField()
    attempt = models.IntegerField()
    status = models.CharField(max_length=9)
    ended_at = models.DateTimeField()

    class Meta:
        db_table = named("webhook_events")
        default_permissions = ()

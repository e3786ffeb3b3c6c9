"""Webhooks: the addresses at which a tenant's system learns how its jobs ended, and the outbox of messages to them."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from plumbing.names import named
from tenants.conf import TENANT_MODEL
from tenants.tenant_key import TenantKey


class WebhookEndpoint(models.Model):
    """An address of a tenant's own system. It is off from `off_at` on.

    types: job types such as reports.datareport.execute. Empty: all.
    batches: the names of batches. Empty: all jobs, also those of no batch.
    salt: the secret is derived from it, and is not stored.
    former_salt: until `former_until`, messages are signed with the secret of this salt, too.
    failures: failed tries in a row, of which `tried_at` was the last.
    next_at: no try begins before it.
    turn: grows with each process that takes the endpoint. A process with an older number changes nothing.
    taken_until: until then the process of the last turn posts to it.
    """

    tenant = TenantKey(TENANT_MODEL, models.CASCADE, db_constraint=False, related_name="+")
    url = models.CharField(max_length=500)
    types = ArrayField(models.CharField(max_length=301), default=list, blank=True)
    batches = ArrayField(models.CharField(max_length=200), default=list, db_default=[], blank=True)
    salt = models.CharField(max_length=64)
    created_at = models.DateTimeField(db_default=Now())
    failing_since = models.DateTimeField(null=True)  # the first failed try since the last message that was taken
    last_error = models.CharField(max_length=300, default="")
    off_at = models.DateTimeField(null=True)
    former_salt = models.CharField(max_length=64, default="", db_default="")
    former_until = models.DateTimeField(null=True)
    failures = models.IntegerField(default=0, db_default=0)
    tried_at = models.DateTimeField(null=True)
    next_at = models.DateTimeField(null=True)
    turn = models.BigIntegerField(default=0, db_default=0)
    taken_until = models.DateTimeField(null=True)

    class Meta:
        db_table = named("webhook_endpoints")

    def __str__(self) -> str:
        return self.url


class WebhookMessage(models.Model):
    """A message to an endpoint about the end of a job: a row of the outbox. The statement that ends the job stores it.

    event: the number of the event that the job ended, the same at each endpoint.
    data: the content of the message, without the user of the job.
    tries: the number of tries that the endpoint refused.
    next_at: no try begins before it, since the endpoint refused the message often; meanwhile later messages go first.
    """

    pk = models.CompositePrimaryKey("endpoint_id", "event")
    endpoint_id = models.BigIntegerField()
    event = models.BigIntegerField()
    ended_at = models.DateTimeField()
    user_key = models.CharField(max_length=100)
    data = models.JSONField()
    tries = models.IntegerField(default=0, db_default=0)
    next_at = models.DateTimeField(null=True)

    class Meta:
        db_table = named("webhook_messages")
        default_permissions = ()


class WebhookHour(models.Model):
    """The outcomes of the messages of an endpoint in an hour.

    dropped: messages that were too old, or too many.
    """

    pk = models.CompositePrimaryKey("endpoint_id", "hour")
    endpoint_id = models.BigIntegerField()
    hour = models.DateTimeField()
    delivered = models.IntegerField(default=0, db_default=0)
    failed = models.IntegerField(default=0, db_default=0)
    dropped = models.IntegerField(default=0, db_default=0)

    class Meta:
        db_table = named("webhook_hours")
        default_permissions = ()

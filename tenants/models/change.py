"""The entries of the audit log."""

from django.db import models
from django.db.models.functions import Now

from plumbing.names import named


class Change(models.Model):
    """An action of a person on a row or a job. `tenants.audit` writes it; it never changes."""

    at = models.DateTimeField(db_default=Now(), editable=False)
    who = models.CharField(max_length=200)  # a user's name, a tenant's slug, or the user at the command line
    key = models.CharField(max_length=12, default="", db_default="", blank=True)  # the prefix of the key used
    address = models.CharField(max_length=45, default="", db_default="", blank=True)  # "": at the command line
    # Plain numbers: the log outlives the tenants.
    tenant_id = models.BigIntegerField(null=True)  # the tenant of the row or job
    actor_tenant_id = models.BigIntegerField(null=True)  # the tenant of the key or member that acted; null: an operator
    verb = models.CharField(max_length=20)
    kind = models.CharField(max_length=100)  # "tenants.tenantqueue", "jobs.job"
    subject_id = models.CharField(max_length=300)
    subject = models.CharField(max_length=300)  # its name at that moment
    values = models.JSONField(default=dict, db_default={})  # {"num_slots": [5, 0]}: before and after
    bulk = models.UUIDField(null=True, editable=False)  # of an action on many: see `tenants.audit.in_bulk`

    class Meta:
        db_table = named("changes")
        constraints = [
            models.UniqueConstraint(
                fields=["bulk", "verb", "tenant_id"],
                condition=models.Q(bulk__isnull=False),
                name="changes_one_of_bulk",
            )
        ]
        indexes = [
            models.Index(fields=["kind", "subject_id", "at"], name="changes_of_one"),
            models.Index(
                fields=["tenant_id", "-id"], condition=models.Q(tenant_id__isnull=False), name="changes_of_tenant"
            ),
            models.Index(fields=["-id"], condition=models.Q(bulk__isnull=False), name="changes_of_runs"),
        ]

    def __str__(self) -> str:
        return f"{self.who} {self.verb} {self.subject}"


class ChangeSubject(models.Model):
    """One of the objects that a bulk action changed; the change itself has only their number."""

    change = models.ForeignKey(Change, models.CASCADE, related_name="subjects")
    subject_id = models.BigIntegerField(db_index=True)

    class Meta:
        db_table = named("change_subjects")
        default_permissions = ()

    def __str__(self) -> str:
        return str(self.subject_id)

"""The events of tenants, which jobs wait for."""

from django.db import models
from django.db.models.functions import Now

from jobs.authoring.exceptions import MOST_OF_NAME
from plumbing.names import named
from tenants.conf import TENANT_MODEL
from tenants.tenant_key import TenantKey


class JobEvent(models.Model):
    """An event. Until `kept_until` the jobs of its tenant find it, and another one of its name is refused."""

    tenant = TenantKey(TENANT_MODEL, models.CASCADE, db_index=False, db_constraint=False, related_name="+")
    name = models.CharField(max_length=MOST_OF_NAME)
    payload = models.JSONField()
    told_at = models.DateTimeField(db_default=Now())
    kept_until = models.DateTimeField()

    class Meta:
        db_table = named("job_events")
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["tenant", "name"], name="job_events_once")]
        indexes = [models.Index(fields=["kept_until"], name="job_events_old")]

    def __str__(self) -> str:
        return self.name

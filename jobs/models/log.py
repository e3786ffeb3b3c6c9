"""The logs and the output of attempts, of the job types that ask for it."""

from django.db import models
from django.db.models.functions import Now

from plumbing.names import named
from tenants.conf import TENANT_MODEL
from tenants.tenant_key import TenantKey


class JobLog(models.Model):
    """The end of what one attempt logged and printed. It is deleted with the history, or with its dead job."""

    tenant = TenantKey(TENANT_MODEL, models.CASCADE, db_index=False, db_constraint=False, related_name="+")
    job_id = models.BigIntegerField()
    attempt = models.PositiveIntegerField()
    text = models.TextField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = named("job_logs")
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["job_id", "attempt"], name="job_logs_once")]
        indexes = [models.Index(fields=["tenant"], name="job_logs_of_tenant")]

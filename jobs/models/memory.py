"""The values that job types keep from run to run."""

from django.db import models
from django.db.models import Func, IntegerField, TextField
from django.db.models.functions import Cast, Now
from django.db.models.lookups import LessThanOrEqual

from plumbing.names import named
from tenants.conf import TENANT_MODEL
from tenants.tenant_key import TenantKey

MAX_BYTES = 8 * 1024  # of a memory, as PostgreSQL writes its JSON


_SIZE = Func(Cast("content", TextField()), function="octet_length", output_field=IntegerField())  # bytes of UTF-8


class JobMemory(models.Model):
    """The memory of one job type of a tenant, or of one object of that type.

    It is deleted when no job has written it for JOBS_MEMORY_TTL seconds.
    """

    tenant = TenantKey(TENANT_MODEL, models.CASCADE, db_index=False, db_constraint=False, related_name="+")
    source_type = models.CharField(max_length=200)
    source_method = models.CharField(max_length=100)
    source_id = models.CharField(max_length=100, default="", blank=True)  # "": the job type's own
    content = models.JSONField(default=dict)
    touched_at = models.DateTimeField(db_default=Now())  # last written

    class Meta:
        db_table = named("job_memories")
        verbose_name_plural = "job memories"
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "source_type", "source_method", "source_id"], name="job_memories_once"
            ),
            models.CheckConstraint(condition=LessThanOrEqual(_SIZE, MAX_BYTES), name="job_memories_small"),
        ]
        indexes = [
            models.Index(fields=["tenant", "id"], name="job_memories_of_tenant"),
            models.Index(fields=["touched_at"], name="job_memories_old"),
        ]

    def __str__(self) -> str:
        return " ".join(filter(None, (self.source_type, self.source_id, self.source_method)))

"""The model of tenants, and the base class for a project's own."""

from collections.abc import Collection

from django.db import models
from django.db.models.functions import Now

from plumbing.bounds import NAME_LENGTH, SLUG_LENGTH


class AbstractTenant(models.Model):
    """A base class for a project's own tenant model (JOBS_TENANT_MODEL)."""

    name = models.CharField(max_length=200, unique=True)
    slug = models.SlugField(unique=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    jobs_name: str  # any tenant model gets both: tenant_model.py
    jobs_slug: str
    jobs_moving: str  # set where the statement that found the tenant has read it: tenants/moving.py

    class Meta:
        abstract = True
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Tenant(AbstractTenant):
    """A customer: owns jobs, has limits, sees nothing of the others."""

    name = models.CharField(max_length=NAME_LENGTH)
    slug = models.SlugField(max_length=SLUG_LENGTH, unique=True)
    mirrored_key = models.CharField(max_length=200, null=True, blank=True, unique=True, editable=False)  # mirror.py

    class Meta(AbstractTenant.Meta):
        abstract = False
        swappable = "JOBS_TENANT_MODEL"
        constraints = [
            models.UniqueConstraint(  # a mirrored name is the project's own, and may exist twice
                fields=["name"],
                condition=models.Q(mirrored_key__isnull=True),
                name="tenants_tenant_name_once",
                violation_error_message="Another tenant has this name.",
            )
        ]

    def validate_constraints(self, exclude: Collection[str] | None = None) -> None:
        """Check the constraint of names even for a form without the field `mirrored_key`."""
        super().validate_constraints(set(exclude or ()) - {"mirrored_key"})

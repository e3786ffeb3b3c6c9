"""Members of tenants, and the keys of tenants and operators to the HTTP API."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone

from tenants.conf import TENANT_MODEL
from tenants.operators import choices
from tenants.tenant_key import TenantKey


class Member(models.Model):
    """A user of a tenant, who may log in, and do what the tenant's keys may do."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="jobs_member")
    tenant = TenantKey(TENANT_MODEL, models.CASCADE, related_name="jobs_members")

    def __str__(self) -> str:
        return f"{self.user} of {self.tenant}"


class Key(models.Model):
    """A key to the HTTP API. Only a digest is stored; the secret is shown once, when the key is issued."""

    name = models.CharField(max_length=100, help_text="The program that uses this key, e.g. 'nightly export'.")
    prefix = models.CharField(max_length=12, unique=True, editable=False)
    digest = models.CharField(max_length=64, editable=False)  # SHA-256, hex
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def state(self) -> str:
        """The state of the key: good, expired or revoked."""
        if self.revoked_at:
            return "revoked"
        return "expired" if self.expires_at and self.expires_at <= timezone.now() else "good"


class ApiKey(Key):
    """A tenant's key: it gives access to that tenant, but not to the operators' part."""

    tenant = TenantKey(TENANT_MODEL, models.CASCADE, related_name="jobs_api_keys")

    class Meta:
        verbose_name = "API key"


class OperatorKey(Key):
    """An operator's key: it acts as that user, with the user's permissions of the moment.

    It has a table of its own, so that no wrong query can give a tenant's key the access of an operator.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="jobs_operator_keys", limit_choices_to=choices
    )

    class Meta:
        verbose_name = "operator key"

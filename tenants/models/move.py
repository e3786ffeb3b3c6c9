"""The moves of tenants between two installations (cells). See docs/adr/0060-moves-of-tenants.md."""

from django.db import models
from django.db.models.functions import Now

from plumbing.names import named
from tenants.conf import TENANT_MODEL
from tenants.tenant_key import TenantKey


class Moving(models.TextChoices):
    """The state of a tenant that moves, in its row of slots."""

    CLOSING = "closing"  # it leaves: its running jobs end
    EXPORTED = "exported"  # it leaves: its file is written
    MOVED = "moved"  # it lives elsewhere, for good
    ARRIVED = "arrived"  # it comes, and waits to be opened


class TenantMove(models.Model):
    """A move of a tenant from here, or to here. The last one of a tenant is the present one; the others stay known.

    address: of the other installation; "": it comes from there.
    was_paused: whether the tenant is to be paused when it is opened.
    key: of the last file that was written, or has come. Both installations make their words of it.
    receipt: of the installation to which the tenant goes; "": it has given none.
    waiting: the jobs in the file that have not ended. None: there is no file yet, or it has come.
    at: when the move began, or its last file was written.
    """

    tenant = TenantKey(TENANT_MODEL, models.CASCADE, related_name="jobs_moves")
    move = models.UUIDField(unique=True)
    address = models.CharField(max_length=500, default="", db_default="")
    was_paused = models.BooleanField()
    key = models.CharField(max_length=32, default="", db_default="")
    receipt = models.CharField(max_length=32, default="", db_default="")
    waiting = models.BigIntegerField(null=True)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = named("tenant_moves")
        default_permissions = ()

    def __str__(self) -> str:
        return f"move {self.move}"

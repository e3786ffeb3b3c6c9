"""Tenants, their limits, members and keys. This app does not know that jobs exist."""

from collections.abc import Collection

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone

from plumbing.bounds import MAX_SECONDS, MOST_DAYS, MOST_SLOTS, NAME_LENGTH, SLUG_LENGTH
from plumbing.names import named
from plumbing.rates import SHORTEST_WINDOW, check_rate, rate_is_whole
from tenants.conf import TENANT_MODEL
from tenants.operators import choices
from tenants.tenant_key import OnlyTenantKey, TenantKey


class AbstractTenant(models.Model):
    """A base class for a project's own tenant model (JOBS_TENANT_MODEL)."""

    name = models.CharField(max_length=200, unique=True)
    slug = models.SlugField(unique=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    jobs_name: str  # any tenant model gets both: tenant_model.py
    jobs_slug: str

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


class TenantQueue(models.Model):
    """The slots and limits of a tenant. A tenant without a row has no slots.

    A change takes effect with the next dispatch, and running jobs may finish. A plain save() requests no dispatch:
    change limits by the operation of `jobs`.
    """

    tenant = OnlyTenantKey(TENANT_MODEL, models.CASCADE, related_name="jobs_queue")
    num_slots = models.PositiveIntegerField(
        "slots",
        default=1,
        validators=[MaxValueValidator(MOST_SLOTS)],
        help_text="Jobs that may be queued or running at the same moment. 0 pauses the tenant.",
    )
    burst_slots = models.PositiveIntegerField(
        "slots with borrowed ones",
        null=True,
        blank=True,
        validators=[MaxValueValidator(MOST_SLOTS)],
        help_text="Slots that it may hold while processes are idle that nobody else may use. Empty: it borrows none.",
    )
    user_slots = models.PositiveIntegerField(
        "slots per user", null=True, blank=True, help_text="The most that one user may hold. Empty: no limit per user."
    )
    weight = models.PositiveIntegerField(
        default=1,
        validators=[MinValueValidator(1)],
        help_text="Share of the workers while tenants compete: weight 2 gets twice as many as weight 1.",
    )
    rate_limit = models.PositiveIntegerField(
        "rate limit (jobs)",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="The most jobs that start in a window. Empty: no limit.",
    )
    rate_window = models.FloatField(
        "rate window (seconds)",
        null=True,
        blank=True,
        validators=[MinValueValidator(SHORTEST_WINDOW), MaxValueValidator(MAX_SECONDS)],
        help_text="The length of the window in seconds.",
    )
    max_waiting = models.PositiveIntegerField(
        null=True, blank=True, help_text="Jobs that may wait before more are refused. Empty: JOBS_MAX_WAITING."
    )
    history_days = models.PositiveIntegerField(
        "history (days)",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_DAYS)],
        help_text="Days that its ended jobs are kept, if fewer than JOBS_HISTORY_KEEP. Empty: JOBS_HISTORY_KEEP.",
    )
    queues = ArrayField(
        models.CharField(max_length=100),
        verbose_name="other queues",
        default=list,
        db_default=[],
        blank=True,
        help_text="Queues that this tenant may name over HTTP besides a job's own, with commas. Empty: none.",
    )
    paused = models.BooleanField(default=False, help_text="Waiting jobs stay waiting; running jobs continue.")

    class Meta:
        db_table = named("tenant_queues")
        verbose_name = "tenant's setting"  # "1 tenant's setting was changed"
        verbose_name_plural = "slots"
        constraints = [
            models.CheckConstraint(condition=rate_is_whole(), name="tenant_queues_rate_limit_has_window"),
            models.CheckConstraint(condition=models.Q(weight__gte=1), name="tenant_queues_weight_positive"),
            models.CheckConstraint(
                condition=models.Q(num_slots__lte=MOST_SLOTS), name="tenant_queues_num_slots_bounded"
            ),
            models.CheckConstraint(
                condition=models.Q(burst_slots__lte=MOST_SLOTS), name="tenant_queues_burst_slots_bounded"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tenant}: {self.num_slots} slot{'' if self.num_slots == 1 else 's'}"

    @classmethod
    def of(cls, tenant: Tenant) -> "TenantQueue":
        """Return the row of a tenant; for a tenant without one an unsaved row with 0 slots."""
        return cls.objects.filter(tenant=tenant).first() or cls(tenant=tenant, num_slots=0)

    def clean(self) -> None:
        check_rate(self.rate_limit, self.rate_window)


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

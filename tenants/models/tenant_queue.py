"""The slots and limits of tenants."""

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from plumbing.bounds import MAX_SECONDS, MOST_DAYS, MOST_SLOTS
from plumbing.names import named
from plumbing.rates import SHORTEST_WINDOW, check_rate, rate_is_whole
from tenants.budgets import Budgets
from tenants.conf import TENANT_MODEL
from tenants.models.move import Moving
from tenants.models.tenant import Tenant
from tenants.slots_by_queue import SlotsByQueue
from tenants.tenant_key import OnlyTenantKey


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
        help_text="Jobs that may be queued or running at once. 0: none of its jobs start.",
    )
    burst_slots = models.PositiveIntegerField(
        "slots with borrowed ones",
        null=True,
        blank=True,
        validators=[MaxValueValidator(MOST_SLOTS)],
        help_text="The most slots, borrowed ones included, while processes would stand idle. Empty: it borrows none.",
    )
    user_slots = models.PositiveIntegerField(
        "slots per user", null=True, blank=True, help_text="The most that one user may hold. Empty: no limit per user."
    )
    queue_slots = SlotsByQueue(
        "slots by queue",
        default=dict,
        db_default={},
        blank=True,
        help_text="The most of its slots in a queue, such as exports=3. Empty: as the queue says.",
    )
    budgets = Budgets(
        "budgets",
        default=dict,
        db_default={},
        blank=True,
        help_text="What its jobs may use in a month (UTC), by unit, such as tokens=1000000. Empty: no limit.",
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
    moving = models.CharField(  # "": it does not move; else it is paused, and takes no new jobs
        max_length=8, choices=Moving, default="", db_default="", blank=True, editable=False
    )

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
            # So the claim, which reads `paused`, starts nothing of a tenant that moves, and no SQL resumes it.
            models.CheckConstraint(
                condition=models.Q(moving="") | models.Q(paused=True),
                name="tenant_queues_moving_is_paused",
                violation_error_message="The tenant moves between installations, and stays paused until it is opened.",
            ),
        ]

    def __str__(self) -> str:
        return f"limits of {self.tenant}"

    @classmethod
    def of(cls, tenant: Tenant) -> "TenantQueue":
        """Return the row of a tenant; for a tenant without one an unsaved row with 0 slots."""
        return cls.objects.filter(tenant=tenant).first() or cls(tenant=tenant, num_slots=0)

    def clean(self) -> None:
        check_rate(self.rate_limit, self.rate_window)

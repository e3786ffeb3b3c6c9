"""Queues and paused job types, which operators change."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from plumbing.bounds import MAX_SECONDS, MOST_SLOTS
from plumbing.names import named
from plumbing.rates import SHORTEST_WINDOW, check_rate, rate_is_whole


class Queue(models.Model):
    """A named line of jobs, shared by all tenants."""

    name = models.SlugField(unique=True, help_text="Its name in @job(queue=...) and over HTTP.")
    weight = models.PositiveIntegerField(
        default=1,
        validators=[MinValueValidator(1)],
        help_text="While two queues of a pool have jobs waiting, weights 3 and 1 are served 3 : 1.",
    )
    pool = models.SlugField(default="default", help_text="The workers that serve it: celery worker -Q POOL.")
    concurrency = models.PositiveIntegerField(
        null=True, blank=True, help_text="The most jobs of all tenants that hold a slot at once. Empty: no limit."
    )
    tenant_slots = models.PositiveIntegerField(
        "slots of a tenant",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_SLOTS)],
        help_text="The most of its slots that a tenant holds here at once. Empty: no limit.",
    )
    wait_target = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0.001), MaxValueValidator(MAX_SECONDS)],
        help_text="Seconds in which a job that its tenant's limits let start shall get a process. Empty: no target.",
    )
    default_timeout = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0.1), MaxValueValidator(MAX_SECONDS)],
        help_text="Seconds that a job may run, unless it has its own timeout. Empty: JOBS_DEFAULT_TIMEOUT.",
    )
    default_max_retries = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="Retries of jobs whose method has no retry policy. Empty: none."
    )
    default_backoff = models.FloatField(
        default=10.0,
        validators=[MinValueValidator(0.0), MaxValueValidator(MAX_SECONDS)],
        help_text="Seconds before the first of those retries.",
    )
    backoff_grows = models.BooleanField(
        default=True, db_default=True, help_text="Each further delay is twice as long. Off: always the same delay."
    )
    rate_limit = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="The most jobs of all tenants that start in a window.",
    )
    rate_window = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(SHORTEST_WINDOW), MaxValueValidator(MAX_SECONDS)],
        help_text="Seconds of the rate limit's window.",
    )
    paused = models.BooleanField(default=False, help_text="Waiting jobs stay waiting; running jobs continue.")

    class Meta:
        db_table = named("queues")
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(default_backoff__gte=0, default_backoff__lte=MAX_SECONDS), name="queues_backoff_bounded"
            ),
            models.CheckConstraint(condition=rate_is_whole(), name="queues_rate_limit_has_window"),
            models.CheckConstraint(condition=Q(weight__gte=1), name="queues_weight_positive"),
            models.CheckConstraint(condition=Q(tenant_slots__gte=1), name="queues_tenant_slots_positive"),
            models.CheckConstraint(
                condition=Q(wait_target__isnull=True) | Q(wait_target__gt=0, wait_target__lte=MAX_SECONDS),
                name="queues_wait_target_positive",
            ),
            models.CheckConstraint(
                condition=Q(default_timeout__isnull=True) | Q(default_timeout__gt=0, default_timeout__lte=MAX_SECONDS),
                name="queues_timeout_positive",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        check_rate(self.rate_limit, self.rate_window)


class PausedJobType(models.Model):
    """A paused job type: its waiting jobs are held, its running jobs continue."""

    source_type = models.CharField(max_length=200)
    source_method = models.CharField(max_length=100)
    paused_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = named("paused_job_types")
        constraints = [models.UniqueConstraint(fields=["source_type", "source_method"], name="paused_job_types_once")]

    def __str__(self) -> str:
        return f"{self.source_type}.{self.source_method}"

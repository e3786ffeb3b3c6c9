"""Recurring jobs: schedules, and the run of each due time."""

from typing import Any

from django.db import models, transaction
from django.db.models import Q
from django.db.models.functions import Now

from jobs.authoring.recurrence import CATCH_UP, OVERLAP
from plumbing.names import named
from tenants.conf import TENANT_MODEL
from tenants.tenant_key import TenantKey


class ScheduleQuerySet(models.QuerySet["Schedule"]):
    def in_turn(self) -> "ScheduleQuerySet":
        """Lock the schedules in one order, so that no two transactions that lock several deadlock."""
        return self.select_for_update(no_key=True, of=("self",)).order_by("tenant_id", "pk")

    @transaction.atomic
    def update(self, **values: Any) -> int:
        return super(ScheduleQuerySet, self._locked()).update(**values)

    @transaction.atomic
    def delete(self) -> tuple[int, dict[str, int]]:
        return super(ScheduleQuerySet, self._locked()).delete()

    update.alters_data = True  # type: ignore[attr-defined]
    delete.queryset_only = delete.alters_data = True  # type: ignore[attr-defined]

    def _locked(self) -> "ScheduleQuerySet":
        return self.filter(pk__in=list(self.in_turn().values_list("pk", flat=True)))


class Schedule(models.Model):
    """A call that recurs, for a tenant. The clock runs it while `next_at` is set."""

    tenant = TenantKey(TENANT_MODEL, models.CASCADE, db_index=False, db_constraint=False, related_name="+")
    name = models.CharField(max_length=300)  # unique for the tenant
    declared = models.BooleanField(default=False)  # by @job, for each tenant; False: it is the tenant's own
    undeclared_at = models.DateTimeField(null=True, blank=True)  # since then no code declares it: it sleeps
    by_tenant = models.BooleanField(default=False)  # its tenant made it: it may only name what the tenant may call

    source_type = models.CharField(max_length=200)
    source_id = models.CharField(max_length=100, null=True, blank=True)  # noqa: DJ001 - null: a class-level job
    source_method = models.CharField(max_length=100)
    args = models.JSONField(default=dict, blank=True)
    queue = models.CharField(max_length=50, null=True, blank=True)  # noqa: DJ001 - null: as @job says
    priority = models.PositiveSmallIntegerField(null=True, blank=True)

    every = models.FloatField(null=True, blank=True)  # seconds; or cron
    cron = models.CharField(max_length=200, default="", blank=True)
    tz = models.CharField(max_length=100, default="UTC")
    jitter = models.FloatField(default=0.0)  # seconds
    starts_at = models.DateTimeField(db_default=Now())  # nothing is due before
    ends_at = models.DateTimeField(null=True, blank=True)  # nor after
    catch_up = models.CharField(max_length=4, default="one", choices=[(word, word) for word in CATCH_UP])
    overlap = models.CharField(max_length=6, default="queue", choices=[(word, word) for word in OVERLAP])
    paused = models.BooleanField(default=False)
    paused_because = models.CharField(max_length=300, default="", blank=True)  # why the clock did; "": a person did

    next_due = models.DateTimeField(null=True, blank=True)  # null while it is paused or sleeps, and after its end
    next_at = models.DateTimeField(null=True, blank=True)  # with the jitter
    last_job_id = models.BigIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    objects = ScheduleQuerySet.as_manager()

    class Meta:
        db_table = named("schedules")
        indexes = [models.Index(fields=["next_at"], condition=Q(next_at__isnull=False), name="schedules_next")]
        constraints = [
            models.UniqueConstraint(fields=["tenant", "name"], name="schedules_once"),
            models.CheckConstraint(condition=Q(every__isnull=True) ^ Q(cron=""), name="schedules_either_every_or_cron"),
            models.CheckConstraint(
                condition=Q(next_due__isnull=True, next_at__isnull=True)
                | Q(next_due__isnull=False, next_at__isnull=False, paused=False),
                name="schedules_paused_is_not_due",
            ),
            models.CheckConstraint(condition=Q(jitter__gte=0), name="schedules_jitter_positive"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_of_the_code(self) -> bool:
        """Return whether the code declares it now, so that it cannot be deleted."""
        return self.declared and self.undeclared_at is None


class ScheduleRun(models.Model):
    """The outcome of one due time: the database allows at most one row for each (I10)."""

    # The database deletes them with their schedule (migrations/initial/children.sql). Between two statements of Django
    # the clock would add another one.
    schedule = models.ForeignKey(Schedule, models.DO_NOTHING, related_name="runs", db_constraint=False, db_index=False)
    due = models.DateTimeField()
    job_id = models.BigIntegerField(null=True)  # null: none was submitted
    note = models.CharField(max_length=300, default="", blank=True)  # why not
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = named("schedule_runs")
        constraints = [models.UniqueConstraint(fields=["schedule", "due"], name="schedule_runs_once")]
        indexes = [
            models.Index(fields=["at"], name="schedule_runs_old"),
            models.Index(fields=["job_id"], condition=Q(job_id__isnull=False), name="schedule_runs_of_job"),
        ]

    def __str__(self) -> str:
        return f"{self.schedule_id} {self.due}"

"""Tables, constraints, indexes; no behaviour. Rows of `jobs` are written by `jobs/store.py` alone."""

from datetime import UTC, datetime

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from jobs.lifecycle import FINAL, HOLDING, Status
from tenants.models import LONGEST_WINDOW, SHORTEST_WINDOW, check_rate, rate_is_whole

LONGEST = 366 * 24 * 3600.0  # seconds of a timeout and of a backoff

# A job of a paused type waits for this moment: it is scheduled, and nothing walks past it.
HELD_UNTIL = datetime(9999, 12, 31, tzinfo=UTC)

# Each kind of status is witnessed by one column. The partial indexes name these columns and never the status,
# so that queued -> running changes no indexed column and is a HOT update.
WITNESSES: dict[str, frozenset[Status]] = {
    "due_at": frozenset({Status.SCHEDULED}),
    "ready_at": frozenset({Status.CREATED}),
    "slot": HOLDING,
    "end_time": FINAL,
}


def _no_half_state() -> Q:
    """Exactly one witness is set, and it is the one of the status."""
    allowed = Q()
    for witness, statuses in WITNESSES.items():
        others = {f"{column}__isnull": column != witness for column in WITNESSES}
        allowed |= Q(status__in=sorted(statuses), **others)
    return allowed


class Queue(models.Model):
    """A named line of jobs, shared by all tenants."""

    name = models.SlugField(unique=True, help_text="What @job(queue=...) and the API name.")
    weight = models.PositiveIntegerField(
        default=1,
        validators=[MinValueValidator(1)],
        help_text="While two queues of a pool have jobs waiting, weights 3 and 1 are served 3 : 1.",
    )
    pool = models.SlugField(default="default", help_text="The workers that serve it: celery worker -Q POOL.")
    concurrency = models.PositiveIntegerField(
        null=True, blank=True, help_text="Jobs queued or running at once, over all tenants. Empty: no limit."
    )
    default_timeout = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0.1), MaxValueValidator(LONGEST)],
        help_text="Seconds a job may run, where the job does not say. Empty: JOBS_DEFAULT_TIMEOUT.",
    )
    default_max_retries = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="Retries of a job whose method has no policy of its own. Empty: none."
    )
    default_backoff = models.FloatField(
        default=10.0,
        validators=[MinValueValidator(0.0), MaxValueValidator(LONGEST)],
        help_text="Seconds before the first of those retries; each further delay is twice as long.",
    )
    rate_limit = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)], help_text="Jobs started per window, over all tenants."
    )
    rate_window = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(SHORTEST_WINDOW), MaxValueValidator(LONGEST_WINDOW)],
        help_text="Seconds of the rate limit's window.",
    )
    paused = models.BooleanField(default=False, help_text="Waiting jobs stay waiting; running jobs go on.")

    class Meta:
        db_table = "queues"
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(default_backoff__gte=0, default_backoff__lte=LONGEST), name="queues_backoff_bounded"
            ),
            models.CheckConstraint(condition=rate_is_whole(), name="queues_rate_limit_has_window"),
            models.CheckConstraint(condition=Q(weight__gte=1), name="queues_weight_positive"),
            models.CheckConstraint(
                condition=Q(default_timeout__isnull=True) | Q(default_timeout__gt=0, default_timeout__lte=LONGEST),
                name="queues_timeout_positive",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        check_rate(self.rate_limit, self.rate_window)


class QueueTurn(models.Model):
    """How much of its share a queue has been served, and of its rate limit spent. Written by the claim.

    virtual_time: start-time fair queueing. full_at: when the rate limit's bucket will be full again.

    Not a column of `queues`: saving a form there would write a stale turn back, and an open form's transaction
    would hold up the claim.
    """

    queue = models.OneToOneField(Queue, models.CASCADE, primary_key=True, related_name="turn")
    virtual_time = models.FloatField(default=0)
    full_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "queue_turns"

    def __str__(self) -> str:
        return f"{self.queue} at {self.virtual_time}"


class TenantTurn(models.Model):
    """How much of its share a tenant has had, and of its rate limit spent. Written by the claim and by the charge.

    virtual_time: seconds for which it has held slots, divided by its weight. seen_at: when it last arrived or paid;
    what has waited since before is no arrival. full_at: when the rate limit's bucket will be full again.
    """

    tenant = models.OneToOneField("tenants.Tenant", models.CASCADE, primary_key=True, related_name="+")
    virtual_time = models.FloatField(db_default=0.0)
    seen_at = models.DateTimeField(null=True)
    full_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "tenant_turns"

    def __str__(self) -> str:
        return f"{self.tenant} at {self.virtual_time}"


class PausedJobType(models.Model):
    """A job type that is paused: its waiting jobs are held, its running ones go on."""

    source_type = models.CharField(max_length=200)
    source_method = models.CharField(max_length=100)
    paused_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "paused_job_types"
        constraints = [models.UniqueConstraint(fields=["source_type", "source_method"], name="paused_job_types_once")]

    def __str__(self) -> str:
        return f"{self.source_type}.{self.source_method}"


class DeathNotice(models.Model):
    """The deaths up to this moment have been announced to this notifier. Whoever announces holds the row's lock."""

    notifier = models.CharField(primary_key=True, max_length=255)  # its dotted path
    upto = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "death_notices"

    def __str__(self) -> str:
        return f"announced to {self.notifier} up to {self.upto}"


class Job(models.Model):
    """One call to make: (source_type, source_id, source_method, args), owned by a tenant."""

    tenant = models.ForeignKey("tenants.Tenant", models.CASCADE, db_index=False, related_name="+")
    queue = models.ForeignKey(Queue, models.PROTECT, db_index=False, related_name="+")
    priority = models.PositiveSmallIntegerField(default=5)  # 0 is first, 10 last
    user_key = models.CharField(max_length=100, default="", blank=True)  # the tenant's user; "" for none

    source_type = models.CharField(max_length=200)  # "reports.datareport"
    source_id = models.CharField(max_length=100, null=True)  # noqa: DJ001 - null: a class-level job
    source_method = models.CharField(max_length=100)
    args = models.JSONField(default=dict)
    dedup_key = models.UUIDField(null=True)  # digest of what makes a job identical; null: never identical

    status = models.CharField(max_length=10, choices=[(s.value, _(s.value)) for s in Status])
    slot = models.PositiveIntegerField(null=True)  # 1..num_slots of the tenant
    attempt = models.PositiveIntegerField(default=0)  # only grows: the fence
    crashes = models.PositiveSmallIntegerField(default=0)
    retries = models.PositiveIntegerField(default=0)  # of this series; a revival begins a new one
    max_retries = models.PositiveIntegerField(null=True)  # null: the policy's
    timeout = models.FloatField(null=True)  # seconds; null: the queue's default
    memory = models.PositiveIntegerField(null=True)  # MiB its process may use; null: the setting's
    worker = models.UUIDField(null=True)  # the `workers` row that runs, or ran, the last attempt
    worker_pid = models.PositiveIntegerField(
        null=True
    )  # and its process: the fence between two messages of one attempt

    created_at = models.DateTimeField(db_default=Now())
    due_at = models.DateTimeField(null=True)
    ready_at = models.DateTimeField(null=True)
    queued_at = models.DateTimeField(null=True)
    handed_at = models.DateTimeField(null=True)  # when its message was last sent to the broker
    start_time = models.DateTimeField(null=True)
    end_time = models.DateTimeField(null=True)
    cancel_requested_at = models.DateTimeField(null=True)  # while it was running
    died_at = models.DateTimeField(null=True)  # set if and only if dead; the dead-letter queue is its index

    progress = models.FloatField(null=True)  # 0..1
    progress_note = models.CharField(max_length=200, default="", blank=True)
    stats = models.JSONField(default=dict)
    last_error = models.TextField(default="", blank=True)
    result_expires_at = models.DateTimeField(null=True)  # null: no result was kept

    class Meta:
        db_table = "jobs"
        constraints = [
            models.CheckConstraint(condition=_no_half_state(), name="jobs_no_half_state"),
            models.CheckConstraint(condition=Q(priority__lte=10), name="jobs_priority_0_to_10"),
            models.CheckConstraint(condition=Q(slot__isnull=True) | Q(slot__gte=1), name="jobs_slot_from_1"),
            models.CheckConstraint(
                condition=~Q(status=Status.RUNNING) | Q(worker__isnull=False, start_time__isnull=False),
                name="jobs_running_has_worker",
            ),
            models.CheckConstraint(
                condition=~Q(status__in=sorted(HOLDING)) | Q(attempt__gte=1), name="jobs_holder_has_attempt"
            ),
            models.CheckConstraint(
                condition=Q(status=Status.DEAD, died_at__isnull=False)
                | ~Q(status=Status.DEAD) & Q(died_at__isnull=True),
                name="jobs_dead_has_moment",
            ),
            # Whatever any code does, a tenant's slot is held by one job.
            models.UniqueConstraint(
                fields=["tenant", "slot"], condition=Q(slot__isnull=False), name="jobs_one_job_per_slot"
            ),
            models.UniqueConstraint(
                fields=["tenant", "dedup_key"],
                condition=Q(dedup_key__isnull=False, end_time__isnull=True),
                name="jobs_one_identical",
            ),
        ]
        indexes = [
            # The claim walks it: queue, tenant, user, and then the line in its order.
            models.Index(
                fields=["queue", "tenant", "user_key", "priority", "id"],
                condition=Q(ready_at__isnull=False),
                name="jobs_claim",
            ),
            models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="jobs_due"),
            models.Index(fields=["tenant"], condition=Q(due_at__isnull=False), name="jobs_scheduled_of_tenant"),
            models.Index(fields=["died_at"], condition=Q(died_at__isnull=False), name="jobs_dead"),
            models.Index(fields=["tenant", "-id"], name="jobs_of_tenant"),
        ]

    def __str__(self) -> str:
        return f"job {self.pk}: {self.source_type}.{self.source_method} ({self.status})"


class DeadLetter(Job):
    """A dead job, for the operators: they are allowed to look at dead letters, or to revive and discard them."""

    class Meta:
        proxy = True
        default_permissions = ["view", "change"]


class FailedAttempt(models.Model):
    """An attempt that ended badly: what a person needs to see why."""

    job = models.ForeignKey(Job, models.CASCADE, related_name="failed_attempts", db_index=False)
    attempt = models.PositiveIntegerField()
    error_class = models.CharField(max_length=200)
    error = models.TextField()
    traceback = models.TextField(default="", blank=True)
    worker = models.UUIDField(null=True)
    queued_at = models.DateTimeField(null=True)
    start_time = models.DateTimeField(null=True)
    end_time = models.DateTimeField()

    class Meta:
        db_table = "failed_attempts"
        constraints = [models.UniqueConstraint(fields=["job", "attempt"], name="failed_attempts_once")]

    def __str__(self) -> str:
        return f"attempt {self.attempt} of job {self.job_id}: {self.error_class}"


class Worker(models.Model):
    """A Celery worker process (the parent of its pool). It is live while it beats and `gone_at` is null."""

    id = models.UUIDField(primary_key=True)
    name = models.CharField(max_length=200)  # Celery's node name
    pid = models.PositiveIntegerField()
    pool = models.SlugField()
    concurrency = models.PositiveIntegerField()
    started_at = models.DateTimeField(db_default=Now())
    beat_at = models.DateTimeField(db_default=Now())
    gone_at = models.DateTimeField(null=True)  # it stopped, or was declared dead; it never comes back under this id

    class Meta:
        db_table = "workers"

    def __str__(self) -> str:
        return f"{self.name} ({self.pool})"


class Repair(models.Model):
    """How often the clock had to make something good, by kind: a metric that should stand still."""

    kind = models.CharField(max_length=40, primary_key=True)
    count = models.PositiveBigIntegerField()
    last_at = models.DateTimeField()

    class Meta:
        db_table = "repairs"

    def __str__(self) -> str:
        return f"{self.kind}: {self.count}"

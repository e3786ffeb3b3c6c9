"""Jobs and their failed attempts. Only `jobs/store/` writes rows of `jobs`."""

import uuid
from datetime import UTC, datetime

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Func, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from jobs.lifecycle import FINAL, HOLDING, Status
from jobs.models.queue import Queue
from plumbing.names import named
from tenants.conf import TENANT_MODEL
from tenants.tenant_key import TenantKey

# A job of a paused type is scheduled for this moment, so that no scan of waiting jobs meets it.
HELD_UNTIL = datetime(9999, 12, 31, tzinfo=UTC)
# The identity of a job whose arguments were erased; no call has it. Such a job cannot be revived: without its arguments
# it may do more.
ERASED = uuid.UUID(int=0)

# The `reason` of a job that was cancelled since it had not started in time.
EXPIRED = "expired"
# The same of one that waited for an event.
UNTOLD = "its event did not come in time"

# Each kind of status has a witness column. The partial indexes name these columns and never the status, so that
# queued -> running changes no indexed column and is a HOT update.
WITNESSES: dict[str, frozenset[Status]] = {
    "blocked_at": frozenset({Status.BLOCKED}),
    "due_at": frozenset({Status.SCHEDULED}),
    "ready_at": frozenset({Status.CREATED}),
    "slot": HOLDING,
    "end_time": FINAL,
}

# The columns that make a job whole: the arguments of the database's function `job_is_whole`, false for half-states.
# It is one function, since PostgreSQL reads the text of every CHECK constraint in every statement that writes a row.
WHOLE = (
    *("status", *WITNESSES, "died_at", "worker", "start_time", "ticket", "attempt"),
    *("priority", "crashes", "retries", "max_retries", "memory", "worker_pid", "result_bytes"),
)


class JobRow(models.Model):
    """One call to make: (source_type, source_id, source_method, args), owned by a tenant, wherever it is stored."""

    id: int  # each table has its own

    tenant = TenantKey(TENANT_MODEL, models.DO_NOTHING, db_constraint=False, related_name="+")
    queue = models.ForeignKey(Queue, models.DO_NOTHING, db_constraint=False, related_name="+")
    priority = models.SmallIntegerField(default=5)  # 0 is first, 10 is last
    user_key = models.CharField(max_length=100, default="", blank=True)  # the tenant's user; "" for none

    source_type = models.CharField(max_length=200)  # "reports.datareport"
    source_id = models.CharField(max_length=100, null=True)  # noqa: DJ001 - null: a class-level job
    source_method = models.CharField(max_length=100)
    args = models.JSONField(default=dict)
    batch_id = models.BigIntegerField(null=True)  # the batch that it belongs to
    dedup_key = models.UUIDField(null=True)  # digest of the job's identity; null: never identical; or ERASED
    sequence = models.CharField(max_length=200, null=True)  # noqa: DJ001 - null: in none; its tenant's jobs of one name run one at a time
    sequence_stops = models.BooleanField(default=False, db_default=False)  # while it is dead, its sequence stands still

    status = models.CharField(max_length=10, choices=[(s.value, _(s.value)) for s in Status])
    slot = models.IntegerField(null=True)  # 1..num_slots of the tenant
    ticket = models.BigIntegerField(null=True)  # the moment of the claim that gave it the slot, ms since 1970
    attempt = models.IntegerField(default=0)  # only grows: the fence
    crashes = models.SmallIntegerField(default=0)
    barred = models.BooleanField(default=False, db_default=False)  # an operator ended it: its tenant cannot revive it
    retries = models.IntegerField(default=0)  # in this series of attempts; a revival begins a new series
    max_retries = models.IntegerField(null=True)  # null: the policy's
    spends = ArrayField(models.CharField(max_length=40), null=True)  # while a budget of these is used up, it is held
    timeout = models.FloatField(null=True)  # seconds; null: the queue's default
    memory = models.IntegerField(null=True)  # MiB that its process may use; null: the setting
    worker = models.UUIDField(null=True)  # the `workers` row that runs, or ran, the last attempt
    worker_pid = models.IntegerField(null=True)  # the worker's process: the fence between messages of one attempt

    created_at = models.DateTimeField(db_default=Now())
    due_at = models.DateTimeField(null=True)
    ready_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)  # no attempt starts from then on; null: no such limit
    waited_since = models.DateTimeField(null=True)  # the last attempt's: `ready_at` until its claim
    own_until = models.DateTimeField(null=True)  # its tenant's own limits held it; then it waited for a process
    queued_at = models.DateTimeField(null=True)
    handed_at = models.DateTimeField(null=True)  # the last time its message was sent to the broker
    start_time = models.DateTimeField(null=True)
    end_time = models.DateTimeField(null=True)
    cancel_requested_at = models.DateTimeField(null=True)  # a cancel asked it to stop while it ran
    died_at = models.DateTimeField(null=True)  # set if and only if dead; the dead-letter queue is its index

    progress = models.FloatField(null=True)  # 0..1
    progress_note = models.CharField(max_length=200, default="", blank=True)
    stats = models.JSONField(default=dict)
    units = models.JSONField(null=True)  # what the last attempt used, by unit
    last_error = models.TextField(default="", blank=True)
    reason = models.CharField(max_length=200, null=True)  # noqa: DJ001 - null: not cancelled, or cancelled on request
    result_expires_at = models.DateTimeField(null=True)  # null: no result was kept
    peak_memory = models.IntegerField(null=True)  # MiB of its process during the last attempt, where measured
    trace_parent = models.CharField(max_length=55, null=True)  # noqa: DJ001 - null: no sampled trace submitted it
    result_bytes = models.IntegerField(null=True)  # size in the cache; 0: the method returned None
    cursor = models.JSONField(null=True)  # of its last checkpoint: the next attempt goes on from there
    event = models.JSONField(null=True)  # the last that it waited for: name, payload, told_at; null: none has come
    handed_back = models.IntegerField(default=0, db_default=0)  # attempts of this series that gave their slot back
    handed_back_why = models.CharField(max_length=20, default="", db_default="", blank=True)  # the last: a HandBack

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"job {self.pk}: {self.source_type}.{self.source_method} ({self.status})"

    @property
    def is_erased(self) -> bool:
        return self.dedup_key == ERASED

    @property
    def is_held(self) -> bool:
        """Return whether its job type is paused: then its due moment means nothing."""
        return self.due_at == HELD_UNTIL


class Job(JobRow):
    """A job that has not ended, or ended recently: the jobs that the engine works on."""

    # No statement of the engine may wait for a transaction that has a tenant or a queue locked: docs/adr/0029.
    tenant = TenantKey(TENANT_MODEL, models.CASCADE, db_index=False, db_constraint=False, related_name="+")
    queue = models.ForeignKey(Queue, models.PROTECT, db_index=False, db_constraint=False, related_name="+")
    blocked_at = models.DateTimeField(null=True)
    waits_for = models.CharField(max_length=200, null=True)  # noqa: DJ001 - null: no event; it keeps its turn meanwhile
    predecessors = ArrayField(models.BigIntegerField(), null=True)  # the jobs that it waits for, or waited for
    announced = models.BooleanField(default=False, db_default=False)  # its end may go to webhooks of its tenant
    awaited = models.BooleanField(default=False, db_default=False)  # others wait for it: its end is noted (JobEnd)
    behind = models.BigIntegerField(null=True)  # the running job that must end before this one starts
    replaced_by = models.BigIntegerField(null=True)  # the job that replaced it while it ran: it is not tried again
    followed = models.IntegerField(default=0, db_default=0)  # jobs that ran in its slot before it, since the claim
    error_key = models.BigIntegerField(null=True)  # of the shape of the error that it died of: groups the dead jobs

    class Meta:
        db_table = named("jobs")
        constraints = [
            models.CheckConstraint(
                condition=Func(*WHOLE, function="job_is_whole", output_field=models.BooleanField()), name="jobs_whole"
            ),
            # No code can give a tenant's slot to two jobs.
            models.UniqueConstraint(
                fields=["tenant", "slot"], condition=Q(slot__isnull=False), name="jobs_one_job_per_slot"
            ),
            models.UniqueConstraint(
                fields=["tenant", "dedup_key"],
                condition=Q(dedup_key__isnull=False, end_time__isnull=True),
                name="jobs_one_identical",
            ),
            # No code can let two jobs of a sequence go, or one past the dead job that stops it.
            models.UniqueConstraint(
                fields=["tenant", "sequence"],
                condition=Q(sequence__isnull=False)
                & (Q(blocked_at__isnull=True) | Q(waits_for__isnull=False))
                & (Q(end_time__isnull=True) | Q(died_at__isnull=False, sequence_stops=True)),
                name="jobs_one_of_sequence",
            ),
        ]
        indexes = [
            # The claim reads a lane in the order of this index.
            models.Index(
                fields=["queue", "tenant", "priority", "id"], condition=Q(ready_at__isnull=False), name="jobs_claim"
            ),
            # The claim reads this index if the tenant limits its users, who then take turns.
            models.Index(
                fields=["queue", "tenant", "user_key", "priority", "id"],
                condition=Q(ready_at__isnull=False),
                name="jobs_claim_by_user",
            ),
            models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="jobs_due"),
            models.Index(fields=["tenant"], condition=Q(due_at__isnull=False), name="jobs_scheduled_of_tenant"),
            # Only waiting jobs: a queued or running job changes no column of this index.
            models.Index(
                fields=["expires_at"],
                condition=Q(expires_at__isnull=False)
                & (Q(due_at__isnull=False) | Q(ready_at__isnull=False) | Q(blocked_at__isnull=False)),
                name="jobs_expiring",
            ),
            # The reader of ends finds the first that waits in a sequence. No other index has only blocked jobs, so no
            # plan takes it for that, whatever the statistics say.
            models.Index(
                fields=["tenant", "sequence", "id"],
                condition=Q(blocked_at__isnull=False),
                name="jobs_blocked_of_tenant",
            ),
            models.Index(
                fields=["tenant", "waits_for", "id"],
                condition=Q(blocked_at__isnull=False, waits_for__isnull=False),
                name="jobs_waiting_for_event",
            ),
            models.Index(fields=["batch_id", "-id"], condition=Q(batch_id__isnull=False), name="jobs_of_batch"),
            models.Index(
                fields=["batch_id", "id"],
                condition=Q(batch_id__isnull=False, end_time__isnull=True),
                name="jobs_open_of_batch",
            ),
            models.Index(fields=["died_at"], condition=Q(died_at__isnull=False), name="jobs_dead"),
            # The groups of the dead-letter queue are counted from this index alone, in its order.
            models.Index(
                fields=["error_key", "source_type", "source_method", "died_at", "tenant"],
                condition=Q(died_at__isnull=False),
                name="jobs_dead_groups",
            ),
            models.Index(fields=["tenant", "-id"], name="jobs_of_tenant"),
            # The archive reads this index; dead jobs stay in the dead-letter queue.
            models.Index(
                fields=["end_time"], condition=Q(end_time__isnull=False, died_at__isnull=True), name="jobs_ended"
            ),
        ]


class DeadLetter(Job):
    """A dead job: a model of its own, so that operators get permissions to view, revive and discard dead letters."""

    class Meta:
        proxy = True
        default_permissions = ["view", "change"]


class FailedAttemptRow(models.Model):
    """A failed attempt, with the facts that explain the failure."""

    attempt = models.PositiveIntegerField()
    error_class = models.CharField(max_length=200)
    error = models.TextField()
    traceback = models.TextField(default="", blank=True)
    worker = models.UUIDField(null=True)
    queued_at = models.DateTimeField(null=True)
    start_time = models.DateTimeField(null=True)
    end_time = models.DateTimeField()

    class Meta:
        abstract = True


# With others in its process, of a light pool: it is not known whose body it was, so it is no crash of its job.
SHARED_DEATH = "SharedDeath"
# Error classes of attempts that died with their process: the crashes of a worker. One that was killed for its memory
# (MemoryExceeded) counts as a crash of its job, and is no sign of a bad worker.
CRASHES = ("WorkerGone", "ProcessDied", SHARED_DEATH)
# Error classes of attempts that ended through no fault of their job, which then runs again.
WORKER_STOPPED, NEIGHBOUR_ENDED, UNKNOWN_JOB_TYPE = "WorkerStopped", "NeighbourEnded", "UnknownJobType"
NO_FAULT = (WORKER_STOPPED, NEIGHBOUR_ENDED, UNKNOWN_JOB_TYPE, SHARED_DEATH)  # or it is not known whose


class FailedAttempt(FailedAttemptRow):
    """A failed attempt of a job in the table `jobs`."""

    # The database deletes them with their job (migrations/initial/children.sql): Django would load all jobs of a tenant
    # that is deleted.
    job = models.ForeignKey(Job, models.DO_NOTHING, related_name="failed_attempts", db_constraint=False, db_index=False)

    class Meta:
        db_table = named("failed_attempts")
        constraints = [models.UniqueConstraint(fields=["job", "attempt"], name="failed_attempts_once")]
        indexes = [
            models.Index(fields=["end_time"], name="failed_attempts_crashes", condition=Q(error_class__in=CRASHES))
        ]

    def __str__(self) -> str:
        return f"attempt {self.attempt} of job {self.job_id}: {self.error_class}"

"""The verdict on a chaos run: what must hold when all is quiet again, and the table that says so."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from django.db.models import Max, QuerySet, Sum
from rich.table import Table

from jobs.lifecycle import FINAL, Status
from jobs.models import (
    UNTOLD,
    AnyFailedAttempt,
    AnyJob,
    ArchivedJob,
    Attempt,
    Batch,
    Job,
    JobEdge,
    JobEnd,
    JobEvent,
    Schedule,
    ScheduleRun,
    Worker,
)
from jobs.reading import usage
from jobs.recording.record import record_hours
from jobs.store import results
from tenants.models import Tenant
from tests.sample.models import Run

# How a process dies that is told to stop: by a signal, by an exception of Celery's whose text is a number, or in words.
A_STOP = r"SIG(TERM|QUIT|HUP|INT|KILL)$|^\d+$|stopped$|status 0$"


class Start(NamedTuple):
    """Of a body. promotions: how many of those that lost something were before it."""

    attempt: int
    promotions: int


def unfinished() -> int:
    """Jobs that are not final yet."""
    return Job.objects.exclude(status__in=FINAL).count()


def of_customers() -> QuerySet[AnyJob]:
    """The jobs of the tenants that are there: of those that were deleted the history goes later."""
    return AnyJob.objects.filter(tenant_id__in=list(Tenant.objects.values_list("pk", flat=True))).order_by("id")


def stop_schedules() -> None:
    """Nothing more is due."""
    Schedule.objects.update(paused=True, next_due=None, next_at=None)


def judge(
    evidence: Path,
    accepted: Mapping[int, float],
    exceeded: list[tuple[str, int, int]],
    lost: Sequence[tuple[float, float]] = (),
    *,
    callbacks: Mapping[int, int] | None = None,
    calls: Mapping[int, int] | None = None,
    revived: Collection[int] = (),
    killed: Collection[int] = (),
) -> list[str]:
    """Everything that went wrong, in words. exceeded: what the auditor saw. callbacks: by batch, the job after its end.
    calls: the job that has gathered each.
    killed: the workers of which a process was killed.

    accepted: the jobs that must be there, and when that was said. lost: the moments, from and to, whose commits a
    standby may have lacked when it was promoted: a job that was accepted then may be gone, and its number be another
    job's; an attempt that started then may start again, and so may one that ended then. Nothing else may.
    """
    started: dict[int, set[int]] = {}  # job id -> the attempts whose bodies started
    certain: dict[int, Counter[Start]] = {}  # job id -> how often, as far as PostgreSQL must know of it
    leaks: list[str] = []
    for line in evidence.read_text().splitlines():
        job_id, attempt, _pid, moment, *leak = line.split(maxsplit=4)
        if leak:
            leaks.append(f"job {job_id}, attempt {attempt}: another body had left {leak[0]} in its session")
            continue
        started.setdefault(int(job_id), set()).add(int(attempt))
        if not _within(lost, float(moment)):
            promotions = sum(end < float(moment) for _, end in lost)
            certain.setdefault(int(job_id), Counter())[Start(int(attempt), promotions)] += 1
    ids = Counter(AnyJob.objects.values_list("id", flat=True))
    there = set(ids)
    must_be = {job_id for job_id, moment in accepted.items() if not _within(lost, moment)}
    return [
        *(f"limit exceeded: {level} held {held}, may {limit}" for level, held, limit in exceeded),
        *(f"job {job_id} was accepted, and is not there" for job_id in sorted(must_be - there)),
        *(f"job {job_id} ran, and is not there" for job_id in sorted(set(certain) - there)),
        *(f"job {job_id} is there {times} times" for job_id, times in ids.items() if times > 1),
        *leaks,
        *(() if lost else _missing_rows()),
        *_wrong_bookings(),
        *(() if lost else _missing_calls(calls or {})),
        *_wrong_bills(),
        *_wrong_flows(),
        *_wrong_callbacks(callbacks or {}, revived),
        *_missed_answers(),
        *_stops_that_count(killed),
        *(words for schedule in Schedule.objects.order_by("id") for words in _irregular(schedule)),
        *(words for job in of_customers() for words in _complaints(job, certain.get(job.pk, Counter()))),
        *(
            words
            for job in of_customers().filter(status=Status.SUCCESS)
            for words in _foreign(job, started.get(job.pk, set()))
        ),
    ]


def _missing_rows() -> Iterator[str]:
    """Successes whose bodies wrote a row in another thread, where it was rolled back."""
    written = set(Run.objects.values_list("job_id", "attempt"))
    for job in AnyJob.objects.filter(status=Status.SUCCESS, source_method__endswith="go_astray").order_by("id"):
        if (job.pk, job.attempt) not in written:
            yield f"job {job.pk} succeeded in attempt {job.attempt}, and the row that it wrote is not there"


def _wrong_bookings() -> Iterator[str]:
    """Jobs that write a row in the transaction of their end, and whose rows are not one for a success, else none.

    Whatever a standby lacked: it lacks both or neither.
    """
    rows = Counter(Run.objects.values_list("job_id", flat=True))
    for job in of_customers().filter(source_method__endswith="book"):
        if rows[job.pk] != (job.status == Status.SUCCESS):
            yield f"job {job.pk} ended as {job.status}, and has {rows[job.pk]} rows of its end"


def _missing_calls(calls: Mapping[int, int]) -> Iterator[str]:
    """Calls that were accepted, and that their job has not gathered."""
    found = dict(AnyJob.objects.filter(pk__in=set(calls.values())).values_list("pk", "args"))
    for call, job_id in sorted(calls.items()):
        if call not in found.get(job_id, {}).get("calls", ()):
            yield f"job {job_id} has not gathered call {call}"


def _wrong_bills() -> Iterator[str]:
    """Tenants whose usage is not, to the microsecond, what the log of attempts has."""
    record_hours()
    logged: dict[int, list[timedelta]] = defaultdict(list)
    for attempt in Attempt.objects.all():
        logged[attempt.tenant_id].append(max(attempt.ended_at - attempt.start_time, timedelta(0)))
    now = datetime.now(UTC)
    day = timedelta(days=1)
    bill = usage.read(usage.UsageRequest(now.date() - day, now.date() + 2 * day, ("tenant",)), None, now)
    billed = {line.tenant_id: (line.attempts, line.microseconds) for line in bill.lines}
    ran = {pk: (len(times), sum(times, timedelta()) // timedelta(microseconds=1)) for pk, times in logged.items()}
    for pk in sorted(ran.keys() | billed.keys()):
        if ran.get(pk) != billed.get(pk):
            yield f"tenant {pk}: the log has {ran.get(pk)} attempts and microseconds, its usage {billed.get(pk)}"


def _wrong_flows() -> Iterator[str]:
    """Batches that are counted wrong, and jobs that still wait for others; all is quiet."""
    for batch in Batch.objects.select_related("tally").order_by("pk"):
        members = Counter(AnyJob.objects.filter(batch_id=batch.pk).values_list("status", flat=True))
        counted = {status: getattr(batch.tally, status) for status in ("success", "error", "dead", "cancelled")}
        if members != Counter(counted) or batch.added != members.total():
            yield f"batch {batch.pk}: {batch.added} were added, {counted} counted, and there are {dict(members)}"
    for edge in JobEdge.objects.order_by("pk"):
        if Job.objects.filter(pk=edge.follower_id, status=Status.BLOCKED).exists():
            yield f"job {edge.follower_id} still waits for {edge.predecessor_id}"
    if news := JobEnd.objects.count():
        yield f"{news} news of ends were never read"


def _wrong_callbacks(callbacks: Mapping[int, int], revived: Collection[int]) -> Iterator[str]:
    """Batches whose job at their end did not run, or ran before they had ended."""
    there = set(Batch.objects.filter(pk__in=callbacks).values_list("pk", flat=True))
    jobs = AnyJob.objects.in_bulk([callbacks[batch] for batch in there])
    for batch in sorted(there):
        after = jobs.get(callbacks[batch])
        if after is None or after.status != Status.SUCCESS:
            yield f"batch {batch}: the job {callbacks[batch]} after it is {after.status if after else 'not there'}"
            continue
        members = AnyJob.objects.filter(batch_id=batch).exclude(pk__in=revived)
        last = members.aggregate(Max("end_time"))["end_time__max"]
        if last is not None and after.start_time is not None and after.start_time < last:
            yield f"batch {batch}: job {after.pk} after it started {last - after.start_time} before its last one ended"


def _missed_answers() -> Iterator[str]:
    """Jobs whose patience ended though their event had come: five seconds are for a commit that was slow."""
    told = {(event.tenant_id, event.name): event.told_at for event in JobEvent.objects.all()}
    for job in Job.objects.filter(reason=UNTOLD).order_by("pk"):
        moment = told.get((job.tenant_id, job.waits_for))
        if moment is not None and moment < job.end_time - timedelta(seconds=5):
            yield f"job {job.pk} was cancelled at {job.end_time}, and its event {job.waits_for} came at {moment}"


def _stops_that_count(killed: Collection[int]) -> Iterator[str]:
    """Crashes of processes that nobody had killed: their worker was told to stop, which is none."""
    parents = dict(Worker.objects.values_list("pk", "pid"))
    crashes = AnyFailedAttempt.objects.filter(error_class="ProcessDied", error__regex=A_STOP)
    for job_id, attempt, worker, error in crashes.values_list("job_id", "attempt", "worker", "error").order_by(
        "job_id"
    ):
        if "SIGKILL" not in error or parents.get(worker, 0) not in {0, *killed}:
            yield f"job {job_id}: a stop of its worker counted as a crash of attempt {attempt}: {error}"


def _within(spans: Sequence[tuple[float, float]], moment: float) -> bool:
    return any(begin <= moment <= end for begin, end in spans)


def _irregular(schedule: Schedule) -> Iterator[str]:
    """Due times of it that became no job, or several; they are a second apart, and all are caught up."""
    runs = list(ScheduleRun.objects.filter(schedule=schedule).order_by("due"))
    for run in runs:
        if run.job_id is None:
            yield f"schedule {schedule.pk}: {run.due} became no job: {run.note}"
    for earlier, later in pairwise(runs):
        if (seconds := (later.due - earlier.due).total_seconds()) != 1:
            yield f"schedule {schedule.pk}: {seconds:g} s between {earlier.due} and {later.due}"
    jobs = set(AnyJob.objects.filter(tenant=schedule.tenant_id, source_method="tick").values_list("pk", flat=True))
    for job_id in jobs ^ {run.job_id for run in runs if run.job_id}:
        yield f"schedule {schedule.pk}: job {job_id} belongs to no due time, or is not there"


def _complaints(job: AnyJob, started: Counter[Start]) -> Iterator[str]:
    if job.expires_at is not None and job.start_time is not None and job.start_time > job.expires_at:
        yield f"job {job.pk} started at {job.start_time}, and expired at {job.expires_at}"
    if job.status not in FINAL:
        yield f"job {job.pk} is still {job.status}, attempt {job.attempt}, slot {job.slot}"
    for (attempt, _), times in started.items():
        if times > 1:
            yield f"job {job.pk}: the body of attempt {attempt} started {times} times"
        if attempt > job.attempt:
            yield f"job {job.pk} is at attempt {job.attempt}, but the body of attempt {attempt} started"


def _foreign(job: AnyJob, started: set[int]) -> Iterator[str]:
    """What a success has from an attempt other than its last, or from a job other than itself."""
    if job.attempt not in started:
        yield f"job {job.pk} succeeded in attempt {job.attempt}, whose body never started"
    expected = [job.args.get("number", 0), job.attempt]
    if (stats := [job.stats.get("number"), job.stats.get("attempt")]) != expected:
        yield f"job {job.pk}, {expected}: stats of {stats}"
    result = results.load(job)  # None: gone with the broker's data, where the cache is too
    if result is not None and result.value != expected:
        yield f"job {job.pk}, {expected}: result of {result.value}"


def table(title: str, counts: dict[str, Counter[str]]) -> Table:
    """What happened, in figures: those given, and what PostgreSQL holds."""
    columns = ("retries", "crashes", "handed_back")
    sums = AnyJob.objects.aggregate(attempts=Sum("attempt"), **{name: Sum(name) for name in columns})
    crashes = AnyFailedAttempt.objects.filter(
        error_class__in=["ProcessDied", "SharedDeath", "WorkerGone", "WorkerStopped"]
    )
    reasons = AnyJob.objects.exclude(reason=None).values_list("reason", flat=True)
    sections = {
        **counts,
        "jobs": Counter(AnyJob.objects.values_list("status", flat=True)),
        "cancelled": Counter(re.sub(r"\d+", "…", reason) for reason in reasons),
        "history": Counter({"jobs": ArchivedJob.objects.count()}),
        "attempts": Counter({name: total or 0 for name, total in sums.items()}),
        "due times": Counter(ScheduleRun.objects.values_list("schedule__tenant__slug", flat=True)),
        "crashes": Counter(crashes.values_list("error_class", flat=True)),
    }
    lines = Table(title=title, title_justify="left", show_header=False)
    for section, figures in sections.items():
        for name, number in sorted(figures.items()):
            lines.add_row(section, name, f"{number:,}")
        lines.add_section()
    return lines

"""Run due schedules: exactly one job for each due time (I10).

In one transaction, for a batch of schedules that are locked for it:

1. Plan: decide which due times become jobs. Compose their calls, with tenants and objects loaded together.
2. Take these times in the database; a time that was taken before gets no second job.
3. Submit the jobs in one statement. If the call of a schedule is no longer possible, pause it with the reason; halving
   the batch finds it, and the others continue. A schedule whose job type this worker does not know (yet) is held up in
   step 1.
4. Record the outcome of each time, and set the next time of each schedule.
5. Cancel the previous runs that these replace. One whose row is locked waits until after the commit.

A process that is killed meanwhile has changed nothing. Locks and taken times separate two simultaneous leaders.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import DatabaseError, OperationalError, transaction

from jobs import store, telemetry
from jobs.authoring.recurrence import InvalidRecurrence
from jobs.calls.refusals import InvalidRequest, TenantMoves, TooManyWaiting, Undecided, UnknownTarget
from jobs.calls.request import JobRequest
from jobs.conf import settings
from jobs.engine.schedules.call import requests_of
from jobs.engine.schedules.plan import move, plan
from jobs.engine.submitting.submit import Submitted, submit_all
from jobs.engine.verbs.cancel import cancel
from jobs.models import Job, Schedule, ScheduleRun
from jobs.store import DueSchedule
from plumbing.text import count_of_jobs

BATCH = 100  # schedules in a transaction
AGAIN = timedelta(seconds=10)  # until a schedule that is held up is looked at again
LONGEST_NOTE = 300  # characters


@dataclass
class ScheduleTurn:
    """The work on one schedule in this batch.

    due: the runs that are to get a job.
    skipped: the runs that get none.
    left_out: the runs for which the backlog has no room.
    why: the reason for which the schedule is paused; "": it is not.
    held_up: whether it is to be looked at again after AGAIN.
    replaced: the job of the previous run, which is to be cancelled.
    """

    due_schedule: DueSchedule
    request: JobRequest | None = None
    due: list[ScheduleRun] = field(default_factory=list)
    skipped: list[ScheduleRun] = field(default_factory=list)
    left_out: list[ScheduleRun] = field(default_factory=list)
    next_due: datetime | None = None
    why: str = ""
    held_up: bool = False
    replaced: int | None = None

    @property
    def schedule(self) -> Schedule:
        return self.due_schedule.schedule

    @property
    def late(self) -> float:
        """Seconds since its due time."""
        due = self.schedule.next_due
        return 0.0 if due is None else (self.due_schedule.now - due).total_seconds()

    def moved(self) -> Schedule:
        """The schedule with its next due time, or paused."""
        schedule = self.schedule
        if self.held_up:
            schedule.next_at = self.due_schedule.now + AGAIN
        elif self.why:
            schedule.next_due = schedule.next_at = None
            schedule.paused, schedule.paused_because = True, self.why[:LONGEST_NOTE]
        else:
            move(schedule, self.next_due)
            jobs = [run.job_id for run in self.due if run.job_id is not None]
            schedule.last_job_id = jobs[-1] if jobs else schedule.last_job_id
        return schedule


def run_due() -> int:
    """Submit due jobs in batches; return the number of due schedules."""
    total = 0
    while turns := _run_batch():
        total += len(turns)
        for turn in turns:
            _follow_up(turn)
        if len(turns) < BATCH:
            break
    return total


@transaction.atomic
def _run_batch() -> list[ScheduleTurn]:
    turns = [ScheduleTurn(schedule) for schedule in store.due_schedules(BATCH)]
    if not turns:
        return []
    for turn in turns:
        _plan(turn)
    _ask([turn for turn in turns if turn.due])
    store.take_due_times([run for turn in turns for run in (*turn.due, *turn.skipped)])
    for turn in turns:
        turn.due = [run for run in turn.due if run.pk]
    _submit([turn for turn in turns if turn.due])
    store.note_runs([run for turn in turns for run in (*turn.left_out, *turn.due)])
    store.advance_schedules([turn.moved() for turn in turns])
    _cancel_previous(turns)
    return turns


def _plan(turn: ScheduleTurn) -> None:
    try:
        planned = plan(turn.due_schedule)
    except InvalidRecurrence as error:
        turn.why = f"{error.field}: {error.message}"
    else:
        turn.next_due = planned.next_due
        turn.due = [ScheduleRun(schedule=turn.schedule, due=due) for due in planned.due]
        turn.skipped = [ScheduleRun(schedule=turn.schedule, due=due, note=planned.why) for due in planned.skipped]


def _ask(turns: list[ScheduleTurn]) -> None:
    """Compose the requests, and load together what they need. Find the schedules that break this; serve the others."""
    if not turns:
        return
    try:
        with transaction.atomic():
            answers = requests_of([turn.schedule for turn in turns])
    except Exception as error:  # the model's own code, or its table is locked
        _ask_apart(turns, error)
        return
    for turn, answer in zip(turns, answers, strict=True):
        if isinstance(answer, UnknownTarget) and turn.late < settings.JOBS_UNKNOWN_PATIENCE:
            turn.due, turn.held_up = [], True  # another worker may know it, and its clock may lead soon
        elif isinstance(answer, InvalidRequest):
            turn.due, turn.why = [], f"{answer.field}: {answer.message}"
        else:
            turn.request = answer


def _ask_apart(turns: list[ScheduleTurn], error: Exception) -> None:
    models = {turn.schedule.source_type for turn in turns}
    if len(models) > 1:
        for model in sorted(models):
            _ask([turn for turn in turns if turn.schedule.source_type == model])
    elif isinstance(error, OperationalError):
        for turn in turns:  # to ask one after the other would wait for the same lock each time
            turn.due, turn.held_up = [], True
    elif len(turns) > 1:
        _halved(_ask, turns)
    elif isinstance(error, DatabaseError):
        turns[0].due, turns[0].held_up = [], True
    else:  # its text is not for tenants
        turns[0].due, turns[0].why = [], f"{type(error).__name__} when its object was loaded"


def _halved(step: Callable[[list[ScheduleTurn]], None], turns: list[ScheduleTurn]) -> None:
    """Run a step on each half. After a few steps a schedule that cannot be served is alone, the others are served."""
    half = len(turns) // 2
    step(turns[:half])
    step(turns[half:])


def _submit(turns: list[ScheduleTurn]) -> None:
    """Submit all in one statement. If that is refused, halve them."""
    if not turns:
        return
    try:
        with transaction.atomic():
            _note(turns, submit_all([turn.request for turn in turns for _ in turn.due if turn.request]))
    except (InvalidRequest, TooManyWaiting) as error:
        if len(turns) > 1:
            _halved(_submit, turns)
        elif isinstance(error, TenantMoves):  # the run is made where the tenant is opened
            store.give_back_due_times(turns[0].due)
            turns[0].due, turns[0].held_up = [], True
        elif isinstance(error, TooManyWaiting):
            _leave_out(turns[0], error.limit)
            _submit([turn for turn in turns if turn.due])
        else:
            _refuse(turns[0], error)
    except (Undecided, OperationalError):  # no schedule's own fault: no row that a submit waits for is one tenant's
        store.give_back_due_times([run for turn in turns for run in turn.due])
        for turn in turns:
            turn.due, turn.held_up = [], True


def _leave_out(turn: ScheduleTurn, limit: int) -> None:
    """Keep the latest runs for which the backlog has room, and leave out the others: at least one."""
    waiting, _ = store.backlog(turn.schedule.tenant_id)
    first = len(turn.due) - min(max(limit - waiting, 0), len(turn.due) - 1)
    for run in turn.due[:first]:
        run.note = f"The backlog was full: at most {count_of_jobs(limit)} may wait."
    turn.left_out += turn.due[:first]
    turn.due = turn.due[first:]


def _refuse(turn: ScheduleTurn, error: InvalidRequest) -> None:
    """Pause a schedule whose call is not possible; its due times get no job."""
    turn.why = f"{error.field}: {error.message}"
    for run in turn.due:
        run.note = turn.why[:LONGEST_NOTE]


def _note(asking: list[ScheduleTurn], submitted: list[Submitted]) -> None:
    runs = (run for turn in asking for run in turn.due)
    for run, job in zip(runs, submitted, strict=True):
        run.job_id = job.id


def _cancel_previous(turns: list[ScheduleTurn]) -> None:
    """Cancel the previous runs that are not locked.

    To wait for a lock here would hold up all schedules, and could deadlock with a deletion.
    """
    for turn in turns:
        if turn.schedule.overlap == "cancel" and any(run.job_id for run in turn.due):
            turn.replaced = turn.due_schedule.under_way
    replacing = {turn.replaced: turn for turn in turns if turn.replaced is not None}
    free = Job.objects.select_for_update(no_key=True, skip_locked=True).filter(pk__in=replacing)
    for job_id in free.values_list("pk", flat=True):
        cancel(job_id, tenant_id=replacing[job_id].schedule.tenant_id)
        replacing[job_id].replaced = None


def _follow_up(turn: ScheduleTurn) -> None:
    schedule = turn.schedule
    if turn.why:
        telemetry.noticed("schedule paused", schedule=schedule.pk, tenant=schedule.tenant_id, because=turn.why)
    if turn.held_up:
        telemetry.noticed("schedule held up", schedule=schedule.pk, tenant=schedule.tenant_id)
    if turn.replaced is not None:
        try:
            cancel(turn.replaced, tenant_id=schedule.tenant_id)
        except OperationalError as error:  # its row is locked: the two runs overlap, and the other schedules go on
            telemetry.noticed("previous run not cancelled", job=turn.replaced, error=type(error).__name__)

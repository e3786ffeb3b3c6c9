"""Every verb of the store under one shape, so that all can be tried on a job in any status."""

import uuid
from dataclasses import fields
from datetime import timedelta

from django.utils import timezone

from jobs import store
from jobs.authoring.exceptions import EventWait
from jobs.lifecycle import HandBack, Status
from jobs.models import HELD_UNTIL, Job, JobEdge, JobEnd, PausedJobType, SpentBudget, Worker
from jobs.store import EVERY_TENANT, Failure, Holder, Seat, Started, Success
from jobs.store.attempts import logged_start, starting
from jobs.store.rows import rows
from jobs.store.trips import begun_by, in_arrays, settled_by
from tests.clock import call_at
from tests.factories import make_job
from tests.sql import sql

WORKER = uuid.uuid4()
REFUSED = Failure("ValueError", "no", "Traceback ...")
KILLED = Failure("Crashed", "killed")
BEGINNING = timezone.now() - timedelta(days=1)
LATER = timezone.now() + timedelta(hours=1)


def moved(job: Job, rows: list) -> bool:
    return job.pk in {row.id for row in rows}


def pause(job: Job) -> None:
    PausedJobType.objects.create(source_type=job.source_type, source_method=job.source_method)


def spend_all(job: Job) -> None:
    """A budget that it spends is used up."""
    SpentBudget.objects.create(tenant_id=job.tenant_id, unit="tokens", since=timezone.now())
    Job.objects.filter(pk=job.pk).update(spends=["tokens"])


def ask_to_stop(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(cancel_requested_at=timezone.now())


def let_expire(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(expires_at=timezone.now() + timedelta(minutes=1))


def note_news(job: Job) -> None:
    JobEnd.objects.create(xid=0, job_id=job.pk)


def fail_before(job: Job) -> None:
    """A job that it waits for has failed."""
    failed = make_job(job.tenant, Status.ERROR)
    JobEdge.objects.create(predecessor_id=failed.pk, follower_id=job.pk)
    note_news(failed)


def start_kept(job: Job, attempt: int) -> bool:
    """The claim of this session has kept that attempt for this process."""
    sql("SELECT set_config('jobs.kept', %s, false)", [f"{job.pk} {attempt}"])
    process = Seat(WORKER, 1)
    return logged_start(rows("start_kept", **starting(process)), process) is not None


def of_many() -> dict[str, object]:
    """The parameters of each statement of a trip."""
    return {"worker": WORKER, "default_timeout": 60.0}


def start_many(job: Job, attempt: int) -> bool:
    """Its feeder was told of that attempt by a message."""
    called = {"ids": [job.pk], "attempts": [attempt], "pids": [1], "suspects": 0, "kept": False}
    return moved(job, begun_by(rows("start_many", **of_many() | called), WORKER))


def succeed_many(job: Job, attempt: int, holder: Holder, *, goes_on: bool = False) -> tuple[set, dict]:
    """Its feeder settles that attempt of the process of `holder`."""
    success = Success(a_start(job, attempt, holder), {"rows": 3}, 60, goes_on=goes_on)
    ended = in_arrays([success])
    return settled_by(rows("succeed_many", **of_many() | {"worker": holder.worker} | ended), [success])


def succeed_by_many(job: Job, attempt: int) -> bool:
    held = Job.objects.get(pk=job.pk)
    return (job.pk, attempt) in succeed_many(job, attempt, Holder(held.worker, held.worker_pid))[0]


def follow_by_many(job: Job, attempt: int) -> bool:
    """Another job of its lane, in that attempt, has ended well."""
    holder = Holder(worker=Worker.objects.latest("started_at").pk, pid=1)
    ended = make_job(job.tenant, Status.RUNNING, attempt=3, worker=holder.worker, worker_pid=1)
    _, followed = succeed_many(ended, attempt, holder, goes_on=True)
    return moved(job, list(followed.values()))


def a_start(job: Job, attempt: int, holder: Holder) -> Started:
    """What the holder of that attempt knows."""
    names = {field.name for field in fields(Started)}
    return Started(
        **dict.fromkeys(names) | {"id": job.pk, "attempt": attempt, "tenant_id": job.tenant_id, "holder": holder}
    )


def follow(job: Job, attempt: int) -> bool:
    """Another job of its lane, in that attempt, has ended well."""
    process = Holder(worker=Worker.objects.latest("started_at").pk, pid=1)
    ended = make_job(job.tenant, Status.RUNNING, attempt=3, worker=process.worker, worker_pid=1)
    _, following = store.succeed_and_follow(ended.pk, attempt, {}, None, by=process)
    return following is not None and following.id == job.pk


# What each verb's statement says it applied; of a verb with two statements the second as "verb by statement".
# `attempt` is what its holder believes to hold.
VERBS = {
    "unblock": lambda job, attempt: moved(job, store.read_ends().moved),
    "drop": lambda job, attempt: moved(job, store.read_ends().moved),
    "promote": lambda job, attempt: moved(job, call_at(LATER, store.promote)),
    "claim": lambda job, attempt: moved(job, store.claim()),
    "start": lambda job, attempt: store.start(job.pk, attempt, store.Seat.here(WORKER)) is not None,
    "start by start_kept": start_kept,
    "start by start_many": start_many,
    "follow": follow,
    "follow by succeed_many": follow_by_many,
    "succeed": lambda job, attempt: store.succeed(job.pk, attempt, {"rows": 3}, 60),
    "succeed by succeed_many": succeed_by_many,
    "succeed by follow": lambda job, attempt: store.succeed_and_follow(job.pk, attempt, {}, 60)[0],
    "fail": lambda job, attempt: store.fail(job.pk, attempt, REFUSED),
    "bury": lambda job, attempt: store.fail(job.pk, attempt, REFUSED, dead=True),
    "retry": lambda job, attempt: store.retry(job.pk, attempt, REFUSED, delay=10),
    "snooze": lambda job, attempt: store.snooze(job.pk, attempt, {}, delay=10),
    "hand_back": lambda job, attempt: store.hand_back(job.pk, attempt, HandBack.DRAIN),
    "wait_for": lambda job, attempt: store.wait_for(job.pk, attempt, EventWait("approved", 60)),
    "stop": lambda job, attempt: store.stop(job.pk, attempt),
    "take_back": lambda job, attempt: store.take_back(job.pk, attempt, KILLED, max_crashes=2) == "scheduled",
    "put_off": lambda job, attempt: store.put_off(job.pk, attempt),
    "lapse": lambda job, attempt: moved(job, call_at(LATER, store.lapse)),
    "turn_away": lambda job, attempt: call_at(LATER, store.turn_away, job.pk, attempt),
    "replace": lambda job, attempt: moved(job, store.replace({job.pk: job.pk + 1})),
    "hold": lambda job, attempt: moved(job, store.hold(job.source_type, job.source_method)),
    "hold by hold_spent": lambda job, attempt: moved(job, store.hold_spent(10)),
    "release": lambda job, attempt: moved(job, store.release()),
    "cancel": lambda job, attempt: bool(store.cancel([job.pk], tenant_id=EVERY_TENANT)),
    "revive": lambda job, attempt: store.revive(job.pk, tenant_id=EVERY_TENANT),
    "rejoin": lambda job, attempt: store.revive(job.pk, tenant_id=EVERY_TENANT),
    "discard": lambda job, attempt: store.discard(job.pk),
    "expire": lambda job, attempt: moved(job, call_at(LATER, store.expire_dead, 0)),
    "archive": lambda job, attempt: call_at(LATER, store.archive, 0, BEGINNING, LATER) > 0,
    "bury by take_back": lambda job, attempt: store.take_back(job.pk, attempt, KILLED, max_crashes=1) == "dead",
    "stop by take_back": lambda job, attempt: store.take_back(job.pk, attempt, KILLED, max_crashes=2) == "cancelled",
}
FOR_MANY = {"unblock", "drop", "promote", "claim", "hold", "release", "lapse", "expire", "archive"}  # these name no job
FOR_MANY |= {"hold by hold_spent"}
# What has to be so before, for the verb to have a reason.
REASONS = {
    "unblock": note_news,
    "drop": fail_before,
    "stop": ask_to_stop,
    "stop by take_back": ask_to_stop,
    "put_off": pause,
    "hold by hold_spent": spend_all,
    "lapse": let_expire,
    "turn_away": let_expire,
    "rejoin": lambda job: Job.objects.filter(pk=job.pk).update(sequence="acct-7"),
    "release": lambda job: Job.objects.filter(pk=job.pk, status="scheduled").update(due_at=HELD_UNTIL),
}


def row(job: Job) -> tuple[str, ...]:
    """The row as it lies there, and its version: equal only if no statement wrote it."""
    return sql("SELECT ctid::text, xmin::text, jobs::text FROM jobs WHERE id = %s", [job.pk])[0]

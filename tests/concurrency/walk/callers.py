"""Steps of those who have jobs: tenants, their code, and operators on single jobs."""

import uuid
from contextlib import suppress

from jobs import store
from jobs.calls.refusals import InvalidRequest
from jobs.calls.request import JobRequest
from jobs.engine.submitting.submit import submit_all
from jobs.engine.upkeep.history import Archive
from jobs.engine.verbs import cancel, pause, revive
from jobs.models import ArchivedJob, PausedJobType
from jobs.store import EVERY_TENANT
from jobs.store.erasing import erase_jobs
from tenants.models import Tenant
from tests.concurrency.walk.world import EVENTS, QUEUES, USERS, NotPossible, World, possible

TYPES = ("tests.letter", "tests.picture")
SAME = tuple(uuid.UUID(int=n) for n in range(1, 4))  # of identical jobs
GROUPS = tuple(uuid.UUID(int=n) for n in range(4, 6))  # of gathered calls


def submit(world: World) -> object:
    """Some jobs, of one lane or of several."""
    draw = world.random
    in_one_lane, lane = draw.random() < 0.5, (draw.choice(world.tenants), draw.choice(QUEUES))

    def request() -> JobRequest:
        tenant, queue = lane if in_one_lane else (draw.choice(world.tenants), draw.choice(QUEUES))
        return JobRequest(
            tenant_id=tenant,
            source_type=draw.choice(TYPES),
            source_id="1",
            source_method="run",
            args={},
            queue=queue,
            priority=draw.randint(0, 2),
            user_key=draw.choice(USERS),
            delay=draw.choice((None, None, None, 0.5, 20.0)),
            expires=draw.choice((None, None, None, None, 0.5, 20.0)),
            dedup_key=draw.choice((None, None, None, *SAME)),
            identical=draw.choice(("join", "join", "join", "replace", "supersede")),
            spends=draw.choice(((), (), ("tokens",), ("pages", "tokens"))),
        )

    requests = [request() for _ in range(draw.choice((1, 2, 5, 12, 20)))]
    submitted = world.do(lambda: submit_all(requests))
    return submitted and [job.id for job in submitted]


def submit_after(world: World) -> object:
    """A job that waits for one or two others of its tenant, whatever they do."""
    first = world.one(lambda job: True)
    if first is None:
        return None
    draw = world.random
    after = {first.id, draw.choice([job.id for job in world.seen.jobs if job.tenant_id == first.tenant_id])}
    waits = {draw.choice(("after", "after_end")): tuple(after), "after_patience": draw.choice((None, 5.0, 60.0))}
    call = {"source_type": draw.choice(TYPES), "source_id": "1", "source_method": "run", "args": {}}

    def submit() -> int | None:
        with suppress(InvalidRequest):  # it may be gone by now
            return submit_all([JobRequest(tenant_id=first.tenant_id, queue=draw.choice(QUEUES), **call, **waits)])[0].id
        return None

    submitted = world.do(submit)
    return submitted and (submitted, sorted(after))


def submit_in_sequence(world: World) -> object:
    """A few jobs of one sequence, in several queues."""
    draw = world.random
    tenant, name, stops = draw.choice(world.tenants), draw.choice(("acct-1", "acct-2")), draw.random() < 0.5
    call = {"source_type": draw.choice(TYPES), "source_id": "1", "source_method": "run", "args": {}}
    requests = [
        JobRequest(tenant_id=tenant, queue=draw.choice(QUEUES), sequence=name, sequence_stops=stops, **call)
        for _ in range(draw.choice((1, 2, 3)))
    ]
    submitted = world.do(lambda: submit_all(requests))
    return submitted and (name, [job.id for job in submitted])


def submit_gathered(world: World) -> object:
    """A few calls of one group, in several queues; few enough make their job full."""
    draw = world.random
    call = {"source_type": draw.choice(TYPES), "source_id": "1", "source_method": "run", "identical": "gather"}
    of_group = {"tenant_id": draw.choice(world.tenants), "most_calls": 3, "dedup_key": draw.choice(GROUPS)}
    some = {"delay": draw.choice((0.0, 0.5, 20.0)), "expires": draw.choice((None, None, 20.0))}

    def request() -> JobRequest:
        queue, priority = draw.choice(QUEUES), draw.randint(0, 2)
        return JobRequest(args={"calls": [draw.random()]}, queue=queue, priority=priority, **call, **of_group, **some)

    requests = [request() for _ in range(draw.choice((1, 1, 2, 5)))]
    submitted = world.do(lambda: submit_all(requests))
    return submitted and [job.id for job in submitted]


def cancel_one(world: World) -> object:
    job = world.one(lambda job: job.end_time is None)
    return job and (job.id, job.status, world.do(lambda: cancel.cancel(job.id, tenant_id=EVERY_TENANT)))


def revive_one(world: World) -> object:
    job = world.one(lambda job: job.status in {"error", "dead", "cancelled"})
    return job and (job.id, job.status, world.do(lambda: revive.revive(job.id, tenant_id=EVERY_TENANT)))


def restore(world: World) -> object:
    archived = sorted(ArchivedJob.objects.filter(status__in=["error", "cancelled"]).values_list("id", flat=True))
    if not archived:
        return None
    job = world.random.choice(archived)
    return job, world.do(lambda: revive.revive(job, tenant_id=EVERY_TENANT))


def discard(world: World) -> object:
    job = world.one(lambda job: job.status == "dead")
    return job and (job.id, world.do(lambda: revive.discard(job.id)))


def archive(world: World) -> object:
    """Everything that has ended: then the tables stay small. A new month's waits for whoever reads an old one."""
    with suppress(NotPossible), possible():
        return Archive().run()
    return "locked"


def expire(world: World) -> object:
    return len(store.expire_dead(30.0))


def erase(world: World) -> object:
    tenant = world.random.choice(world.tenants)
    return tenant, world.do(lambda: sum(batch.jobs for batch in erase_jobs(tenant, lambda _: False)))


def pause_type(world: World) -> object:
    kind = world.random.choice(TYPES)
    PausedJobType.objects.get_or_create(source_type=kind, source_method="run")
    return kind, world.do(lambda: len(store.hold(kind, "run")))


def resume_type(world: World) -> object:
    kind = world.random.choice(TYPES)
    PausedJobType.objects.filter(source_type=kind).delete()
    return kind, world.do(pause.release)


def delete_tenant(world: World) -> object:
    tenant = world.random.choice(world.tenants)

    def delete() -> int:
        Tenant.objects.get(pk=tenant).delete()
        return tenant

    deleted = world.do(delete, open_at_times=False)
    if deleted:
        world.replace(tenant)
    return deleted


def tell(world: World) -> object:
    """Somebody tells an event; it is kept for a short while."""
    tenant, name = world.random.choice(world.tenants), world.random.choice(EVENTS)
    return tenant, name, world.do(lambda: store.tell(tenant, name, "1"))

"""A thing whose one job at a time a test runs."""

import pytest
from asgiref.sync import SyncToAsync
from django.db import connections

from jobs import job
from jobs.engine.attempt.execute import execute
from jobs.engine.attempt.threads import Threads
from jobs.engine.process.host import AttemptHost, ProcessHost
from jobs.models import Job
from jobs.store import OwnSession
from jobs.store.session import session
from tests.attempts import changed
from tests.factories import TenantFactory, ThingFactory
from tests.kinds import Ordinary, light_kind
from tests.sample.models import Thing


@pytest.fixture
def thing(register) -> Thing:
    """Of a tenant with one slot; there is a worker."""
    register()
    return ThingFactory(tenant=TenantFactory(queue__num_slots=1))


@pytest.fixture
def one_worker(register, settings) -> None:
    """It is live for as long as a busy machine takes."""
    settings.JOBS_BEAT_INTERVAL = 3600.0
    register()


@pytest.fixture
def host(register):
    """A seat as a worker's: the engine has a session of its own, and the threads of bodies end with them."""
    own, before, mine = OwnSession(), SyncToAsync.single_thread_executor, connections["default"]
    of_bodies = Threads()
    parts = {"own_session": own.speaking, "of_a_body": of_bodies.of_a_body, "end_threads": of_bodies.end}
    parts |= {"cancel_calls": of_bodies.cancel_calls}
    yield changed(AttemptHost(ProcessHost(register(concurrency=1), pool="default")), **parts)
    SyncToAsync.single_thread_executor.shutdown()
    SyncToAsync.single_thread_executor = before
    if connections["default"] is not mine:  # the process that has to end is that of the tests
        connections["default"].close()
        connections["default"] = mine
    with own.speaking():
        session().close()


@pytest.fixture
def serve_coroutine(host, sent, monkeypatch):
    """Run this body as a job of a tenant of its own; whether its process may go on, and the job as it ended."""

    def serve(body, host=host, **options) -> tuple[bool, Job]:
        monkeypatch.setattr(Thing, "echo", job(dedup=False, **options)(body))
        job_id = ThingFactory().async_.echo()
        return execute(job_id, 1, host), Job.objects.get(pk=job_id)

    return serve


@pytest.fixture(params=["COMMIT", "ROLLBACK"])
def they(request, onlooker):
    """Somebody who begins something, and then ends it in that way; whether they commit."""
    onlooker.execute("BEGIN")
    onlooker.commits = request.param == "COMMIT"
    onlooker.end = lambda: onlooker.execute(request.param)
    yield onlooker
    onlooker.execute("ROLLBACK")


@pytest.fixture(params=["ordinary", "light"])
def kind(request, sent):
    """A process of an ordinary or of a light pool: `kind.serve()` runs all jobs that may run."""
    if request.param == "ordinary":
        yield Ordinary(request.getfixturevalue("host"), sent)
    else:
        yield from light_kind(request.getfixturevalue("register"))


@pytest.fixture
def serve_of_both(kind, monkeypatch):
    """As `serve_coroutine`, by a process of either kind."""

    def serve(body, **options) -> tuple[bool, Job]:
        monkeypatch.setattr(Thing, "echo", job(dedup=False, **options)(body))
        job_id = ThingFactory().async_.echo()
        return kind.serve(), Job.objects.get(pk=job_id)

    return serve

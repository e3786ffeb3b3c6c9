"""A light process finds the objects of the attempts that begin together with one query, if the project has no say."""

from contextlib import contextmanager

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobs import current_job, store
from jobs.engine.attempt.body import SourceGone
from jobs.engine.light import coroutine
from jobs.engine.light.coroutine import Attempt
from jobs.engine.light.database import DatabaseThreads, Lane
from jobs.engine.light.host import LightProcess, LightSeat
from tests.factories import TenantFactory, ThingFactory
from tests.sample.models import Thing

pytestmark = pytest.mark.django_db(transaction=True)
around: list[object] = []  # the jobs around which the project's context was


@contextmanager
def in_schema(job):
    assert current_job().id == job.id
    around.append(job.tenant)
    yield


@pytest.fixture
def things(body) -> list[Thing]:
    async def echo(self) -> None:
        """Nothing is run here."""

    body(echo)
    return [ThingFactory(tenant=TenantFactory()) for _ in range(2)]


@pytest.fixture
def begin(sent, register):
    """Start the jobs that were sent, by their rows, and find what they run; return the attempts, and the queries."""

    def begin(*job_ids: int) -> tuple[list[Attempt], int]:
        worker = register()
        started = [store.start(job_id, 1, store.Seat.here(worker)) for job_id in job_ids]
        threads, process = DatabaseThreads(1), LightProcess(worker)
        attempts = [Attempt(job, LightSeat(process), Lane(threads)) for job in started]
        with CaptureQueriesContext(connection) as asked:
            coroutine.find(attempts)
        return attempts, sum('FROM "sample_thing"' in query["sql"] for query in asked.captured_queries)

    return begin


def test_attempts_of_two_tenants_get_their_own_objects_by_one_query(things, begin, register):
    register()
    attempts, queries = begin(*(thing.async_.echo() for thing in things))
    assert [attempt.found[2] for attempt in attempts] == things
    assert [attempt.context.run(current_job).id for attempt in attempts] == [attempt.job.id for attempt in attempts]
    assert queries == 1


def test_an_object_that_is_gone_fails_its_own_attempt_alone(things, begin, register):
    register()
    ids = [thing.async_.echo() for thing in things]
    things[0].delete()
    (gone, there), _ = begin(*ids)
    assert isinstance(gone.outcome.error, SourceGone)
    assert (there.found[2], there.outcome.error) == (things[1], None)


def test_each_object_is_found_in_the_context_of_the_project_if_it_has_one(things, begin, register, settings):
    register()
    settings.JOBS_AROUND = f"{__name__}.in_schema"
    around.clear()
    attempts, queries = begin(*(thing.async_.echo() for thing in things))
    assert [attempt.found[2] for attempt in attempts] == things
    assert around == [thing.tenant for thing in things]
    assert queries == 2

"""The trips to PostgreSQL and the cache that a process makes for a job, one after the other: each costs a distance."""

import os
from itertools import pairwise
from statistics import median_low
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.core.cache import caches
from django.core.management import call_command
from django.db import connection, connections

from jobs import job
from jobs.engine.attempt import execute as engine
from jobs.engine.attempt import slices
from jobs.engine.attempt.execute import execute
from jobs.engine.process.host import AttemptHost, ProcessHost
from jobs.models import Job
from jobs.store import results
from tests.factories import TenantFactory, ThingFactory, statuses
from tests.network import Path, Trips
from tests.sample.models import Thing

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]

ONE_WAY = 0.01  # seconds: longer than this process takes between two requests that leave together
JOBS = 10


@pytest.fixture
def host(register) -> AttemptHost:
    return AttemptHost(ProcessHost(register(concurrency=1), pool="default"))


@pytest.fixture
def trips(monkeypatch):
    """Those of this process, whose engines are far away."""
    counted = Trips()
    database = Path(os.environ["DATABASE_URL"], ONE_WAY, counted)
    cache = Path(settings.CACHES["default"]["LOCATION"], ONE_WAY, counted)
    near, options = connection.settings_dict, {**connection.settings_dict["OPTIONS"], "sslmode": "disable"}
    connection.close()
    near_cache = caches["default"]
    far = {**near, "HOST": "127.0.0.1", "PORT": urlsplit(database.url).port, "OPTIONS": options}
    monkeypatch.setattr(connections["default"], "settings_dict", far)
    monkeypatch.setitem(caches.settings, "default", {**caches.settings["default"], "LOCATION": cache.url})
    caches["default"] = caches.create_connection("default")
    yield counted
    connection.close()
    caches["default"]._cache.get_client().connection_pool.disconnect()
    caches["default"] = near_cache
    for path in (database, cache):
        path.close()


@pytest.fixture
def at_bodies(trips, monkeypatch) -> list[int]:
    """How many trips were made when each body began."""
    made = []

    @job(dedup=False)
    def echo(self, value):
        made.append(trips.made)
        return value

    monkeypatch.setattr(Thing, "echo", echo)
    return made


@pytest.fixture
def slice_and_slack(monkeypatch, seconds) -> None:
    """A slice takes so long, and a process goes on for so long without a message."""
    monkeypatch.setattr(slices, "MAX_SLICE", 60.0)
    monkeypatch.setattr(slices, "SLICE", seconds[0])
    monkeypatch.setattr(engine, "SLACK", seconds[1])


@pytest.mark.parametrize(
    ("seconds", "most"),
    [
        pytest.param((60.0, 60.0), 3, id="within a slice: find the object; clean and keep; settle and follow"),
        pytest.param((0.0, 60.0), 3, id="beyond: the same; the pass shares the last one, and the next start"),
        pytest.param((0.0, 0.0), 4, id="with a message for each: its start is one more"),
    ],
)
@pytest.mark.usefixtures("slice_and_slack")
def test_a_job_makes_few_trips_one_after_the_other(at_bodies, host, sent, most):
    thing = ThingFactory(tenant=TenantFactory(queue__num_slots=1))
    for n in range(JOBS):
        thing.async_.echo(n)
    for message in sent:  # which grows
        execute(message.id, message.attempt, host)
    assert statuses() == ["success"] * JOBS
    between = [later - earlier for earlier, later in pairwise(at_bodies)]
    assert median_low(between) == most, f"{between}: the first ones connect and plan"


def test_a_result_in_a_table_is_kept_before_the_session_is_cleaned(host, sent, settings):
    settings.CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "kept_results"}
    }
    call_command("createcachetable", verbosity=0)
    job_id = ThingFactory().async_.echo(5)
    execute(job_id, 1, host)
    assert results.load(Job.objects.get(pk=job_id)).value == [5]

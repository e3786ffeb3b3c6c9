"""Two deployments on one Redis, with jobs of the same numbers: each runs its own, and reads its own results."""

import json

import pytest
from django.conf import settings

from jobs.models import Job
from jobs.store import results
from tests.acceptance.following import ended
from tests.factories import ThingFactory
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.long("two deployments that share a broker or a cache"),
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not settings.CELERY_BROKER_URL.startswith("redis"), reason="on RabbitMQ: a virtual host each"),
]
COUNT = 10
SUBMIT = """
from django.db import connection
from tests.factories import ThingFactory
with connection.cursor() as cursor:
    cursor.execute("SELECT setval(pg_get_serial_sequence('jobs', 'id'), %s, false)", [{first}])
thing = ThingFactory()
print([thing.async_.echo("the neighbour's", times=n) for n in range(1, {count} + 1)])
"""
READ = """
import json
from jobs import results
from jobs.models import Job
print(json.dumps([results.load(job).value for job in Job.objects.order_by("pk")]))
"""


def test_each_runs_its_own_jobs_and_reads_its_own_results(start_worker, register, neighbour, start_neighbours_worker):
    register(concurrency=COUNT)  # so that messages are there before our worker is
    owner = ThingFactory(tenant__queue__num_slots=COUNT)
    mine = [owner.async_.echo("the owner's", times=n) for n in range(1, COUNT + 1)]
    theirs = neighbour.manage("shell", "--verbosity", "0", "-c", SUBMIT.format(first=mine[0], count=COUNT))
    assert json.loads(theirs) == mine
    assert Job.objects.filter(pk__in=mine, status="queued").count() == COUNT
    start_neighbours_worker()
    wait_until(lambda: all(status == "success" for status, _ in neighbour.statuses()), "the neighbour's jobs end")
    assert neighbour.statuses() == [("success", 1)] * COUNT
    assert Job.objects.filter(pk__in=mine, status="queued").count() == COUNT
    start_worker()
    jobs = [ended(job_id) for job_id in mine]
    assert [(job.status, job.attempt) for job in Job.objects.filter(pk__in=mine)] == [("success", 1)] * COUNT
    assert [results.load(job).value for job in jobs] == [["the owner's"] * n for n in range(1, COUNT + 1)]
    read = neighbour.manage("shell", "--verbosity", "0", "-c", READ)
    assert json.loads(read) == [["the neighbour's"] * n for n in range(1, COUNT + 1)]

"""`manage.py jobs` and sequences: submit into one, find one, see it, and let it go on."""

import json
from functools import partial

import pytest

from jobs.engine.door.unblock import unblock
from jobs.lifecycle import Status
from jobs.models import Job
from tests.factories import TenantFactory, ThingFactory, make_job, status
from tests.integration.cli import running

pytestmark = pytest.mark.django_db(transaction=True)
run = partial(running.run, "jobs")
A = "acct-7"


@pytest.fixture
def tenant():
    return TenantFactory(slug="acme", queue__num_slots=50)


def test_a_job_is_submitted_into_a_sequence_shown_and_found(tenant):
    thing = ThingFactory(tenant=tenant)
    stranger = make_job(TenantFactory(), sequence="acct-8").pk
    run("submit", "sample.thing", thing.pk, "echo", "--tenant", "acme", "--sequence", A)
    job = Job.objects.get(sequence=A)
    assert A in run("show", job.pk)
    assert json.loads(run("show", job.pk, "--json"))["sequence"] == A
    listed = [found["id"] for found in json.loads(run("list", "--sequence", A, "--json"))["jobs"]]
    assert job.pk in listed and stranger not in listed


def test_a_discarded_job_lets_its_sequence_go_on_and_says_so(tenant):
    dead = make_job(tenant, Status.DEAD, sequence=A, sequence_stops=True)
    other = make_job(tenant, Status.DEAD)
    waits = make_job(tenant, Status.BLOCKED, sequence=A)
    assert f"job {dead.pk} has died" in run("explain", waits.pk)
    assert "1 job waits until then" in run("explain", dead.pk)
    said = run("discard", dead.pk, other.pk)
    assert f"Job {dead.pk} is discarded, and its sequence goes on." in said
    assert f"Job {other.pk} is discarded." in said
    unblock()
    assert status(waits.pk) == "created"

"""What the endpoints that programs call most cost: statements, however they came by the answer."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs.http import inputs, schemas
from jobs.lifecycle import Status
from jobs.models import AnyJob, Job
from jobs.reading import queries
from tenants.models import TenantQueue
from tests.factories import QueueFactory, make_job

pytestmark = pytest.mark.django_db(transaction=True)  # in one, a look for an object takes a savepoint


@pytest.fixture
def submit(owner, report):
    """Ask as a program whose key's last use has just been noted; returns the response and the statements."""
    owner.get("/api/v1/stats")

    def submit(**fields):
        body = {"source_type": "reports.datareport", "source_id": report.pk, "source_method": "execute"} | fields
        with CaptureQueriesContext(connection) as queries:
            response = owner.post("/api/v1/jobs", body, content_type="application/json")
        return response, [query["sql"] for query in queries]

    return submit


def test_a_new_job_takes_three_statements(submit):
    response, statements = submit()
    assert response.status_code == 202
    assert len(statements) == 3, statements  # the key, the object, the job


def test_an_identical_one_is_read_in_a_fourth(submit):
    submit()
    response, statements = submit()
    assert response.json()["deduplicated"] is True
    assert len(statements) == 4, statements


def test_a_refused_one_takes_no_more(submit, owner):
    response, statements = submit(queue="nonsense")
    assert response.status_code == 422
    assert len(statements) == 2, statements  # the last one tells which queues it may name


@pytest.mark.parametrize(("status", "statements"), [(Status.RUNNING, 2), (Status.CREATED, 3)])
def test_a_status_takes_two_statements_and_while_the_job_waits_a_third_says_when_it_starts(
    owner, tenant, status, statements
):
    job = make_job(tenant, status)
    owner.get("/api/v1/stats")
    with CaptureQueriesContext(connection) as queries:
        assert owner.get(f"/api/v1/jobs/{job.pk}").status_code == 200
    assert len(queries) == statements


def test_the_answer_to_a_post_is_the_stored_object(submit, owner, tenant, subtests):
    """With each option, alone and beside others; and of what else is made by a POST."""
    QueueFactory(name="critical")
    TenantQueue.objects.filter(tenant=tenant).update(queues=["critical"])
    moment = (timezone.now() + timedelta(hours=1)).isoformat()
    ended, waiting = (make_job(tenant, status).pk for status in (Status.SUCCESS, Status.CREATED))
    make_job(tenant, Status.CREATED, sequence="acct-7")  # it has the turn: the posted one stays as it was stored
    options = [
        {},
        {"delay": 60},
        {"at": moment, "expires": 60.5},
        {"at": moment.replace("+00:00", "z").lower()},
        {"expires": 600},
        {"expires": moment, "delay": 1},
        {"after": [waiting], "expires": 60, "after_patience": 30},
        {"after_end": [ended, waiting], "timeout": 7.5},
        {"args": {"parameters": {"region": "ü"}}, "user": "ann"},
        {"queue": "critical", "priority": 3, "max_retries": 2, "dedup": False},
        {"sequence": "acct-7"},
        *({"identical": one, "delay": 60, "expires": 60} for one in ("join", "replace", "supersede", "debounce")),
    ]
    assert {name for one in options for name in one} >= inputs.Submission.model_fields.keys() - {
        *("source_type", "source_id", "source_method")
    }
    grows = {"wait_seconds": 0, "waited": 0, "starts": None}  # no forecast was made in between
    for number, said in enumerate(options):
        with subtests.test(said=said):
            response, _ = submit(**{"args": {"parameters": {"n": number}}} | said)
            assert response.status_code == 202, response.content
            read = owner.get(response["Location"]).json()
            assert response.json() | grows == read | grows | {"deduplicated": False}
            assert (response.json()["waited"] is None) == (read["waited"] is None)
    call = {"source_type": "reports.datareport", "source_method": "refresh_all"}
    made = [
        ("batches", {"name": "nightly", "jobs": [call], "close": False}),
        ("schedules", {"name": "nightly", "cron": "0 3 * * *", "tz": "UTC", **call}),
    ]
    for path, said in made:
        with subtests.test(path):
            response = owner.post(f"/api/v1/{path}", said, content_type="application/json")
            assert response.json() == owner.get(response["Location"]).json()


@pytest.mark.parametrize("status", Status)
def test_a_job_read_by_hand_equals_one_read_by_django(tenant, status):
    made = make_job(tenant, status, args={"a": [1, None]}, stats={"rows": 1.5}, user_key="ann", progress=0.5)
    by_hand, by_django = queries.job(tenant.pk, made.pk), Job.objects.select_related("queue").get(pk=made.pk)
    names = [field.attname for field in AnyJob._meta.concrete_fields]
    assert {name: getattr(by_hand, name) for name in names} == {name: getattr(by_django, name) for name in names}
    assert by_hand.queue == by_django.queue
    assert by_hand.queue.weight == by_django.queue.weight


@pytest.mark.parametrize("status", Status)
def test_a_shown_job_fits_its_schema(tenant, status):
    shown = schemas.job_values(make_job(tenant, status))
    assert schemas.Job(**shown).model_dump().keys() == shown.keys()
    assert schemas.SubmittedJob(**schemas.job_values(make_job(tenant, status), deduplicated=True))

"""An erased job is not revived: without its arguments it would make another call. Who tries is told why."""

from datetime import timedelta

import pytest
from django.contrib.messages import get_messages
from django.db import transaction
from django.utils import timezone

from jobs import EVERY_TENANT
from jobs.engine.upkeep.history import Archive
from jobs.engine.verbs.erase import erase
from jobs.engine.verbs.revive import discard, revive
from jobs.lifecycle import Status
from jobs.models import AnyJob, ArchivedJob, Job
from jobs.reading.explain.explanation import explain
from tests.factories import TenantFactory, make_job
from tests.integration.cli import running

pytestmark = pytest.mark.django_db
REASON = "Its arguments were erased, so it cannot be revived."
LONG_AGO = timezone.now() - timedelta(days=2)


def nobody_revives(job: Job) -> None:
    before = AnyJob.objects.get(pk=job.pk).status
    assert not revive(job.pk, tenant_id=job.tenant_id)
    assert not revive(job.pk, tenant_id=EVERY_TENANT)
    assert AnyJob.objects.get(pk=job.pk).status == before


@pytest.fixture
def erased(tenant) -> Job:
    job = make_job(tenant, Status.DEAD, args={"customer": 5})
    erase(tenant.pk)
    return job


@pytest.mark.parametrize("status", [Status.ERROR, Status.DEAD, Status.CANCELLED])
def test_an_erased_job_is_not_revived(tenant, status):
    job = make_job(tenant, status, args={"customer": 5})
    erase(tenant.pk)
    nobody_revives(job)


def test_an_erased_job_is_not_revived_after_it_was_discarded(erased):
    assert discard(erased.pk)
    nobody_revives(erased)


@pytest.mark.parametrize("erased_first", [True, False])
@pytest.mark.parametrize("status", [Status.ERROR, Status.CANCELLED])
def test_an_erased_job_is_not_revived_from_the_history(tenant, status, erased_first):
    job = make_job(tenant, status, args={"customer": 5}, end_time=LONG_AGO)
    if erased_first:
        erase(tenant.pk)
    assert Archive().run() == 1
    if not erased_first:
        erase(tenant.pk)
    nobody_revives(job)
    assert ArchivedJob.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("archived", [False, True])
def test_a_revival_that_waits_for_the_erasure_is_refused(elsewhere, blocked, archived):
    job = make_job(TenantFactory(), Status.ERROR, end_time=LONG_AGO)
    assert Archive().run() == 1 if archived else True
    with transaction.atomic():
        erase(job.tenant_id)
        revival = elsewhere(revive, job.pk, tenant_id=EVERY_TENANT)
        while not blocked():
            assert not revival.done()
    assert revival.result() is False


def test_its_tenant_and_an_operator_are_told_over_http(owner, admin_client, erased):
    for caller, address in ((owner, "/api/v1/jobs"), (admin_client, "/api/v1/operator/jobs")):
        response = caller.post(f"{address}/{erased.pk}/revive", content_type="application/json")
        assert (response.status_code, response.json()["detail"]) == (409, REASON)


def test_among_dead_letters_it_is_skipped(admin_client, erased):
    form = {"ids": [erased.pk]}
    response = admin_client.post("/api/v1/operator/dead/revive", form, content_type="application/json")
    assert response.json() == {"revived": 0, "skipped": 1, "more": False}


@pytest.mark.parametrize(
    ("address", "form"),
    [
        ("/ops/jobs/revive", {"ids": "{job}"}),
        ("/ops/dead/revive", {"ids": "{job}"}),
    ],
)
def test_an_operator_is_told_on_the_pages(admin_client, erased, address, form):
    response = admin_client.post(address, {name: text.format(job=erased.pk) for name, text in form.items()})
    [message] = get_messages(response.wsgi_request)
    assert str(message) == "Skipped 1 job: under way, succeeded, or their arguments were erased."
    assert Job.objects.get().status == Status.DEAD


def test_a_member_is_told(mate, erased):
    response = mate.post(f"/jobs/{erased.pk}/run-again")
    [message] = get_messages(response.wsgi_request)
    assert str(message) == f"The arguments of job {erased.pk} were erased: it cannot run again."


def test_the_pages_offer_no_revival_and_show_no_arguments(mate, admin_client, erased):
    for caller, address in ((mate, f"/jobs/{erased.pk}/"), (admin_client, f"/ops/jobs/{erased.pk}/")):
        page = caller.get(address).content.decode()
        assert "Its arguments were erased." in page
        assert "/revive" not in page and "/run-again" not in page


def test_an_erased_job_is_shown_as_such_at_the_command_line(erased):
    assert "args       erased" in running.run("jobs", "show", erased.pk)
    said = running.refusal("jobs", "revive", erased.pk)
    assert said.startswith(f"id: job {erased.pk} is dead, and its arguments were erased. ")


@pytest.mark.parametrize("status", [Status.ERROR, Status.DEAD, Status.CANCELLED])
def test_its_explanation_says_so(tenant, status):
    job = make_job(tenant, status)
    assert "it can be revived" in explain(job.pk, tenant_id=tenant.pk).sentence
    erase(tenant.pk)
    assert "its arguments were erased, so it cannot be revived." in explain(job.pk, tenant_id=tenant.pk).sentence

"""Lists of jobs: each page looks at a bounded number of jobs, says how far, and in the end all that fit were shown."""

import pytest
from django.db.models import Q
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.engine.submitting.batches import open_batch
from jobs.engine.upkeep.history import Archive
from jobs.lifecycle import Status
from jobs.models import ArchivedJob, BatchTally, Job
from jobs.reading import listing
from jobs.reading.listing import Sought
from tests.factories import TenantFactory, make_job
from tests.integration.store.test_history import DAY, NOW

pytestmark = pytest.mark.django_db


def walk(**wanted) -> tuple[list[int], int]:
    """The ids on all pages, and the number of pages."""
    found, pages, before = [], 0, None
    while True:
        sought = Sought(wanted.get("tenant"), wanted.get("status"), others=wanted.get("chosen", Q()))
        page = listing.page(sought, wanted.get("limit", 2), before=before)
        found, pages, before = found + [job.pk for job in page.jobs], pages + 1, page.before
        if before is None:
            return found, pages


@settings(max_examples=20)
@given(
    statuses=st.lists(st.sampled_from(sorted(Status)), max_size=12),
    archived=st.booleans(),
    look=st.integers(1, 5),
    wanted=st.fixed_dictionaries(
        {
            "limit": st.integers(1, 4),
            "status": st.sampled_from([None, *sorted(Status)]),
            "chosen": st.sampled_from([Q(), Q(user_key="anna")]),
        }
    ),
)
def test_all_pages_together_have_each_job_that_fits_once(monkeypatch, statuses, archived, look, wanted):
    monkeypatch.setattr(listing, "MAX_LOOKED_AT", look)
    Job.objects.all().delete()
    ArchivedJob.objects.all().delete()
    tenant, other = TenantFactory(), TenantFactory()
    expected = []
    for number, status in enumerate(statuses):
        key = "anna" if number % 2 else ""
        ended = {"end_time": NOW - 2 * DAY} if status in {"success", "error", "cancelled"} else {}
        job = make_job(tenant, status, user_key=key, **ended)
        make_job(other, status, user_key=key)
        if wanted["status"] in {None, status} and (key or not wanted["chosen"]):
            expected.insert(0, job.pk)
    if archived:
        Archive().run()
    found, _ = walk(tenant=tenant, **wanted)
    assert found == expected


@pytest.mark.parametrize("look", [1, 100])
@pytest.mark.parametrize("status", Status)
def test_no_page_of_a_tenant_has_a_strangers_job(status, look, monkeypatch):
    monkeypatch.setattr(listing, "MAX_LOOKED_AT", look)
    owner, stranger = TenantFactory(), TenantFactory()
    make_job(stranger, status)
    own = make_job(owner, status).pk
    make_job(stranger, status)
    for wanted in ({}, {"status": status}, {"chosen": Q(priority=5)}):
        assert walk(tenant=owner, **wanted)[0] == [own], wanted


def test_a_page_without_a_hit_says_how_far_it_looked(monkeypatch):
    monkeypatch.setattr(listing, "MAX_LOOKED_AT", 3)
    tenant = TenantFactory()
    jobs = [make_job(tenant, Status.SUCCESS).pk for _ in range(5)]
    sought = Sought(tenant, others=Q(user_key="anna"))
    page = listing.page(sought, 2)
    assert (page.jobs, page.before) == ([], jobs[2])
    page = listing.page(sought, 2, before=page.before)
    assert (page.jobs, page.before) == ([], None)


def test_the_few_of_a_status_are_found_at_once_however_many_jobs_came_later(monkeypatch):
    monkeypatch.setattr(listing, "MAX_LOOKED_AT", 3)
    tenant = TenantFactory()
    found = {
        status: make_job(tenant, status).pk
        for status in (Status.SCHEDULED, Status.CREATED, Status.RUNNING, Status.DEAD)
    }
    for _ in range(9):
        make_job(tenant, Status.SUCCESS)
    for status, job in found.items():
        assert walk(tenant=tenant, status=status) == ([job], 1)
        assert walk(status=status) == ([job], 1)


def test_the_jobs_of_a_batch_are_found_however_many_others_came_later_its_failures_first(monkeypatch):
    monkeypatch.setattr(listing, "MAX_LOOKED_AT", 3)
    tenant, stranger = TenantFactory(), TenantFactory()
    nightly = open_batch("nightly", "", tenant.pk)
    BatchTally.objects.update(success=1, error=1, dead=1)
    batch, statuses = nightly.progress(), (Status.ERROR, Status.SUCCESS, Status.DEAD)
    error, good, dead = (make_job(tenant, one, batch_id=batch.id).pk for one in statuses)
    for _ in range(9):
        make_job(tenant, Status.ERROR)
    sought = Sought(tenant, batch=batch.id)
    assert [one.pk for one in listing.page(sought, 9).jobs] == [dead, good, error]
    assert [one.pk for one in listing.failures_first(batch, 9, tenant=tenant)] == [dead, error, good]
    assert [one.pk for one in listing.failures_first(batch, 1, tenant=tenant)] == [dead]
    assert listing.failures_first(batch, 9, tenant=stranger) == []
    assert listing.newer(sought, upto=error) == (2, False)

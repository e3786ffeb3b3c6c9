"""The pages and sequences: a job shows its own, with a search for the others."""

import pytest

from jobs.lifecycle import Status
from tests.factories import TenantFactory, make_job
from tests.integration.dashboard.reading import text

pytestmark = pytest.mark.django_db
A = "acct-7"


def test_a_job_leads_to_those_of_its_sequence(operator):
    admin = operator("view_job")
    tenant = TenantFactory(slug="acme")
    job = make_job(tenant, Status.BLOCKED, sequence=A)
    dead = make_job(tenant, Status.DEAD, sequence=A, sequence_stops=True)
    stranger = make_job(TenantFactory(), sequence=A)
    page = text(admin.get(f"/ops/jobs/{job.pk}/"))
    assert "?q=tenant%3Aacme%20sequence%3Aacct-7" in page
    assert f"job {dead.pk} has died" in page
    assert "1 job waits until then" in text(admin.get(f"/ops/jobs/{dead.pk}/"))
    found = text(admin.get("/ops/jobs/?q=tenant:acme sequence:acct-7"))
    assert f"/ops/jobs/{job.pk}/" in found and f"/ops/jobs/{stranger.pk}/" not in found

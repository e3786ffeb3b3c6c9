"""The members' pages and sequences: why a job waits for its turn, and the others of its sequence."""

import pytest

from jobs.lifecycle import Status
from tests.factories import TenantFactory, make_job
from tests.integration.members.reading import LIST, page, row, why

pytestmark = pytest.mark.django_db
A = "acct 7"


def test_a_job_says_which_one_it_waits_for_and_leads_to_the_others(mate, tenant):
    dead = make_job(tenant, Status.DEAD, sequence=A, sequence_stops=True)
    job, other = make_job(tenant, Status.BLOCKED, sequence=A), make_job(tenant, sequence="acct-8")
    stranger = make_job(TenantFactory(), Status.BLOCKED, sequence=A)
    assert f"job {dead.pk} has died" in why(mate, job)
    assert "1 job waits until then" in why(mate, dead)
    address = "?sequence=acct%207"
    assert address in page(mate, f"{LIST}{job.pk}/")
    assert row(mate, job, f"{LIST}{address}") and row(mate, dead, f"{LIST}{address}")
    assert not row(mate, other, f"{LIST}{address}") and not row(mate, stranger, f"{LIST}{address}")

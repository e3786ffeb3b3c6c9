"""Jobs of one sequence: one at a time, in the order of submission, whatever becomes of them."""

import pytest

from jobs import store
from jobs.contrib.testing import drain
from jobs.engine.door.unblock import unblock
from jobs.models import Job, JobEnd
from jobs.store import EVERY_TENANT
from tests.factories import TenantFactory, ThingFactory, status

pytestmark = pytest.mark.django_db


@pytest.fixture
def thing():
    return ThingFactory(tenant=TenantFactory(queue__num_slots=5))


def test_a_first(thing):
    a = thing.async_(sequence="acct-7").echo()
    b = thing.async_(sequence="acct-7").echo()
    assert [status(a), status(b)] == ["blocked", "blocked"]
    unblock()
    assert [status(a), status(b)] == ["created", "blocked"]
    assert store.cancel([a], tenant_id=EVERY_TENANT)
    unblock()
    assert status(b) == "created"
    assert not JobEnd.objects.exists()

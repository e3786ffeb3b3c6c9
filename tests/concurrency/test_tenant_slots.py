"""A change of a tenant's slots in a queue, beside a pass that closes a lane under the old number; from both sides."""

import psycopg
import pytest
from django.db import connection

from jobs.engine.door.dispatch import dispatch
from jobs.models import Lane
from tests.concurrency.test_door import a_pass, quietly_submit
from tests.factories import QueueFactory, TenantFactory, held

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity", "sent")]
CHANGES = {
    "of all tenants": "UPDATE queues SET tenant_slots = 3 WHERE name = 'exports'",
    "of one tenant": "UPDATE tenant_queues SET queue_slots = '{\"exports\": 3}'",
}


@pytest.fixture(params=CHANGES)
def change(request):
    """Another session, which has changed the number and not committed yet."""
    with psycopg.connect(**connection.get_connection_params()) as other:
        other.execute("SELECT 1")
        yield lambda: other.execute(CHANGES[request.param]), other.commit


@pytest.fixture
def acme(register):
    """It has four exports in line, of which one may go."""
    register(concurrency=9)
    QueueFactory(name="exports", tenant_slots=1)
    owner = TenantFactory(queue__num_slots=5)
    for n in range(4):
        quietly_submit(owner, source_id=n, queue="exports")
    return owner


def states() -> list[str]:
    return list(Lane.objects.values_list("state", flat=True))


def test_a_change_that_commits_after_the_pass_has_read_the_number_opens_the_lane_it_closed(acme, change):
    begin, commit = change
    begin()
    with a_pass() as inside:
        inside.come_in()
        assert len(inside.claim()) == 1
        commit()
        inside.commit()
    assert states() == ["full"]
    assert dispatch() == 2
    assert held() == 3


def test_a_change_that_commits_between_the_fold_and_the_claim_of_a_pass_holds_for_the_claim(acme, change):
    begin, commit = change
    begin()
    with a_pass() as inside:
        inside.come_in()
        inside.fold()
        commit()
        assert len(inside.only_claim()) == 3
        inside.commit()
    assert dispatch() == 0, "what the next fold is told changes nothing more"
    assert states() == ["full"]


def test_a_change_that_commits_long_after_a_pass_that_saw_it_under_way_is_not_lost(acme, change):
    """The fold remembers which transactions had not ended in its snapshot."""
    begin, commit = change
    assert dispatch() == 1
    begin()
    quietly_submit(TenantFactory(), queue="exports")
    assert dispatch() == 1
    assert sorted(states()) == ["full", "full"]
    commit()
    assert dispatch() == 2
    assert held() == 4


def test_a_change_that_rolls_back_opens_nothing(acme, change):
    begin, _ = change
    assert dispatch() == 1
    before = Lane.objects.get().version
    begin()
    with a_pass() as inside:
        inside.come_in()
        assert not inside.claim()
        inside.commit()
    assert Lane.objects.get().version == before

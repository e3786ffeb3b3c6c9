"""The demo's judges: they must be able to see a broken promise."""

import pytest

from reports.demo.burst import Submissions
from reports.demo.observer import Observer
from reports.demo.summary import add_up
from tests.factories import TenantFactory, make_job
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def watched(tenant):
    """What the observer has seen of the tenant after a good look."""
    with Observer([tenant.pk], after_id=0) as observer:
        seen = observer.looks
        wait_until(lambda: observer.looks > seen + 1 and observer.counts, "the observer looks")
    return observer.sights[tenant.pk]


def test_the_observer_sees_a_limit_that_is_kept():
    tenant = TenantFactory(queue__num_slots=2)
    for status in ("running", "queued", "created", "success", "error"):
        make_job(tenant, status)
    sight = watched(tenant)
    assert (sight.in_use, sight.greatest, sight.over_limit) == (2, 2, 0)
    assert (sight.waiting, sight.ended, sight.errors) == (1, 2, 1)


def test_the_observer_sees_a_limit_that_is_broken():
    tenant = TenantFactory(queue__num_slots=1)
    make_job(tenant, "running")
    make_job(tenant, "queued")
    sight = watched(tenant)
    assert sight.greatest == 2
    assert sight.over_limit > 0
    assert not add_up("T", tenant.pk, [Submissions()], sight).kept


def test_a_job_that_never_ends_or_vanished_is_lost():
    tenant = TenantFactory(queue__num_slots=2)
    done, stuck = make_job(tenant, "success"), make_job(tenant, "running")
    sight = watched(tenant)
    line = add_up("T", tenant.pk, [Submissions({done.pk, stuck.pk}), Submissions({done.pk + 10**6}, 3)], sight)
    assert (line.jobs, line.successes, line.lost, line.deduplicated) == (3, 1, 2, 3)
    assert not line.kept
    assert add_up("T", tenant.pk, [Submissions({done.pk})], sight).kept


def test_an_observer_that_cannot_look_says_so():
    tenant = TenantFactory()
    with pytest.raises(RuntimeError, match="observer failed"), Observer([tenant.pk], after_id="x") as observer:
        wait_until(lambda: not observer.alive, "the observer fails")

"""A body that ends its process whenever it runs, among others of a light pool: in the end it runs alone."""

import pytest
from django.db import transaction

from jobs import async_
from jobs.models import SHARED_DEATH, FailedAttempt, Job, Pool, Queue
from tests.acceptance.following import ended
from tests.factories import TenantFactory
from tests.sample import light
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_body_that_ends_its_process_again_and_again_is_dead_in_the_end_and_all_others_succeed(environ, start_worker):
    Queue.objects.create(name=light.QUEUE, pool="light")
    Pool.objects.create(name="light", kind="light", seats=30)
    environ["JOBS_MAX_CRASHES"] = "1"
    owner, stranger = (TenantFactory(queue__num_slots=11) for _ in range(2))
    start_worker("light", 1)
    with transaction.atomic():
        others = [async_(light.wait, tenant=tenant)(seconds=0.2) for tenant in (owner, stranger) for _ in range(10)]
        poison = async_(light.crash, tenant=owner)()
    job = ended(poison)
    error = "ProcessDied: its process was ended by SIGSEGV, with no other job in it"
    assert (job.status, job.last_error) == ("dead", error)
    # Not `attempt`, which also counts when it was put off because another suspect ran alone.
    deaths = FailedAttempt.objects.filter(job=poison)
    assert 1 <= deaths.filter(error_class=SHARED_DEATH).count() <= 3  # fewer than three if the others had ended before
    assert deaths.exclude(error_class=SHARED_DEATH).count() == 1
    wait_until(lambda: Job.objects.filter(status="success").count() == len(others), "all others succeed")
    assert set(Job.objects.exclude(pk=poison).values_list("crashes", flat=True)) == {0}
    assert set(FailedAttempt.objects.exclude(job=poison).values_list("error_class", flat=True)) == {SHARED_DEATH}

"""A real body that blocks the event loop of a real light worker: seen at once, and told afterwards, of no other job."""

import re

import pytest

from jobs import async_
from jobs.models import BlockedLoop, Job, Pool, Queue
from jobs.reading import blocks
from jobs.reading.health import conditions, look
from tests.acceptance.following import ended
from tests.factories import TenantFactory
from tests.sample import light
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_blocked_loop_is_seen_while_it_lasts_and_told_of_its_job_alone(start_worker):
    Queue.objects.create(name=light.QUEUE, pool="light")
    Pool.objects.create(name="light", kind="light", seats=50)
    start_worker("light", 1)
    tenant, stranger = TenantFactory(), TenantFactory()
    other = async_(light.wait, tenant=stranger)(seconds=6)
    wait_until(Job.objects.filter(pk=other, status="running").exists, "the other job runs")
    guilty = async_(light.block, tenant=tenant)(seconds=5)
    wait_until(blocks.now, "the block is seen")
    [now] = blocks.now()
    told = [one.text for one in conditions(look()) if one.code == "loop_blocked"]
    assert (now.job_id, now.job_type, now.pool, now.others) == (guilty, "tests.sample.light.block", "light", 1)
    assert told[0].startswith(f"Job {guilty} (tests.sample.light.block) has blocked an event loop of pool light for ")
    assert ": 1 other attempt stands still. It is at " in told[0]
    assert {ended(job).status for job in (guilty, other)} == {"success"}
    wait_until(BlockedLoop.objects.filter(seconds__isnull=False).exists, "the end of the block is noted")
    assert blocks.now() == []
    [one] = blocks.of_job(guilty)
    assert re.search(r"its body blocked the other seat of its process for \d\.\d s$", one.sentence)
    assert "/sample/light.py:" in one.place
    assert one.place.endswith(" block")
    assert blocks.of_job(other) == []

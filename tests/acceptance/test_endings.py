"""Bodies that end in a transaction of their own, in real processes that are killed again and again."""

import random
import time
from collections import Counter

import pytest

from jobs import submit_many
from jobs.lifecycle import FINAL
from jobs.models import AnyJob, Job
from tests.chaos.freezing import children, kill
from tests.sample.models import Run
from tests.thorough import sized
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(1800),
    pytest.mark.long("a death between the steps that tests/integration/engine/test_ending_lost.py knows"),
]

JOBS = sized(200, thorough=10_000)
SECONDS = sized(30, thorough=2) / 1000  # of a body
METHODS = {"ordinary": "book", "light": "light_book"}
KILLED_AFTER = 1.0  # seconds, again and again


def unfinished() -> int:
    return Job.objects.exclude(status__in=FINAL).count()


def test_there_are_as_many_rows_as_successes_although_a_process_is_killed_each_second(work, environ, request):
    """Half of the jobs are a stranger's."""
    environ["JOBS_MAX_CRASHES"] = "1000"
    method = METHODS[request.node.callspec.params["work"]]
    calls = [getattr(tenant.async_, method) for tenant in work.tenants]
    work.ids = submit_many(calls[number % 2].request(number, seconds=SECONDS) for number in range(JOBS))
    worker, kills = work.start_worker(), 0
    chance, at = random.Random(JOBS), time.monotonic() + KILLED_AFTER / 2
    while unfinished():
        wait_until(lambda at=at: not unfinished() or time.monotonic() > at, "it is time for the next kill")
        if unfinished() and (processes := children(worker.pid)):
            kill(chance.choice(processes))
            kills += 1
        at = time.monotonic() + KILLED_AFTER
    ended = AnyJob.objects.filter(pk__in=work.ids)
    assert Counter(ended.values_list("status", flat=True)) == {"success": JOBS}
    rows = Counter(Run.objects.values_list("job_id", flat=True))
    assert rows == dict.fromkeys(work.ids, 1)
    again = ended.filter(attempt__gt=1).count()
    assert kills > 1
    assert again > 0, "no body has run twice, and the kills have proven nothing"
    work.nothing_is_left()

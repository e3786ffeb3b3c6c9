"""What the processes of a worker share with their parent."""

import pytest

from embedded.process import Process
from jobs.store import results
from tests import conftest
from tests.acceptance.following import ended
from tests.factories import ThingFactory

pytestmark = pytest.mark.django_db(transaction=True)

MOST = 80_000  # of the objects that a worker has when it has imported everything


def test_the_first_process_of_a_worker_and_its_successor_leave_what_the_parent_imported_alone(start_worker, processes):
    processes.child = Process  # what a warm parent leaves is frozen already
    start_worker(concurrency=1)
    thing = ThingFactory()
    assert results.load(ended(thing.async_(dedup=False).count_frozen())).value > MOST
    assert ended(thing.async_.kill_first(times=1)).status == "success"
    assert results.load(ended(thing.async_(dedup=False).count_frozen())).value > MOST


def test_a_process_that_is_not_forked_collects_everything():
    assert conftest.frozen_by_imports == 0

"""The processes of a pool, as a worker's own threads see them."""

from types import SimpleNamespace as Object

from celery.concurrency.prefork import TaskPool

from jobs.worker.children.kills import Pool


def test_those_of_a_pool_that_runs():
    assert Pool(Object(_pool=Object(_pool=[Object(pid=7), Object(pid=9)]))).pids() == [7, 9]


def test_none_of_a_pool_that_was_terminated():
    """By the second of two signals, while the threads that end processes over their limits still look."""
    pool = TaskPool(limit=1)
    pool._pool = Object(terminate=lambda: None)
    pool.on_terminate()
    assert Pool(pool).pids() == []

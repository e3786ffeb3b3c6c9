"""The processes of a pool, as a worker's own threads see them."""

from types import SimpleNamespace as Object

from celery.concurrency.prefork import TaskPool

from jobs.worker.children.kills import Pool


def test_a_running_pool_has_its_processes():
    pool = Pool(Object(_pool=Object(_pool=[Object(pid=7), Object(pid=9)], _processes=3)))
    assert (pool.pids(), pool.size()) == ([7, 9], 3)


def test_a_terminated_pool_has_no_processes():
    """By the second of two signals, while the threads that end processes over their limits still look."""
    pool = TaskPool(limit=1)
    pool._pool = Object(terminate=lambda: None)
    pool.on_terminate()
    assert (Pool(pool).pids(), Pool(pool).size()) == ([], 0)

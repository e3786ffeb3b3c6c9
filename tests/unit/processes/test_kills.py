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


def test_a_process_that_is_added_counts_as_no_capacity_and_starts_in_celerys_thread():
    soon, looks = [], []
    processes = Object(_pool=[], _processes=3, maintain_pool=lambda: looks.append(processes._processes))
    celerys = Object(_pool=processes, grow=lambda n: setattr(processes, "_processes", processes._processes + n))
    pool = Pool(celerys)
    pool.grow(Object(call_soon=soon.append))
    assert processes._processes == 3
    soon[0]()
    assert (pool.size(), looks) == (3, [4])
    pool.grow(None)
    assert (pool.size(), processes._processes, looks) == (3, 5, [4]), "the pool's own thread starts it"

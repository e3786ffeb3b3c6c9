"""Plain Celery: no tenants, no limits, a job is a message."""

import time

from celery import Task

from benchmarks import THOROUGH, mix
from benchmarks.bells import ring, tally
from benchmarks.contenders import celery_app
from benchmarks.contenders.contender import PROCESSES, purge
from embedded.fleet import Command

QUEUE = "bench-plain"
app = celery_app.app(QUEUE)


@app.task
def echo(n: int) -> None:
    ring(n)


@app.task(bind=True, max_retries=1)
def nothing(self: Task, n: int, *, fails: bool = False) -> None:
    if fails and not self.request.retries:
        raise self.retry(countdown=mix.BACKOFF)
    tally()


@app.task
def rest(n: int, seconds: float) -> None:
    ring("begin", 0, n)
    time.sleep(seconds)
    ring("end", 0, n)


class Plain:
    name = "Celery"

    def prepare(self) -> None:
        purge(app, QUEUE)

    def submit(self, n: int) -> None:
        echo.apply_async((n,))

    def rest(self, n: int, seconds: float) -> None:
        rest.apply_async((n, seconds))

    def fill(self, count: int) -> None:
        for n in range(count):
            self.submit(n)

    def fill_with_nothing(self, count: int) -> None:
        for n in range(count):
            nothing.apply_async((n,), mix.arguments(n) if THOROUGH else {})

    def begin(self) -> None:
        """Nothing to do: the messages are in the broker."""

    def workers(self) -> list[Command]:
        return [self.worker()]

    def worker(self, processes: int = PROCESSES) -> Command:
        return celery_app.worker(__name__, QUEUE, django=False, processes=processes)

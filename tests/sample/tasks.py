"""Functions that are jobs."""

import logging
import os

from jobs import Retry, async_, current_job, job
from tenants.models import Tenant
from tests.sample.models import note_run


@job
def greet(name: str, *, greeting: str = "Hello") -> str:
    return f"{greeting}, {name}, of {current_job().tenant}"


@job
def relay(name: str) -> int:
    return async_(greet)(name)


@job(queue="critical", priority=1, retry=Retry.every(60, max_retries=2), http=True)
def ring(*, times: int = 1) -> int:
    note_run()
    if current_job().attempt < times:
        raise ConnectionError("nobody answers")
    return current_job().memory.increment("calls")


@job(every=3600, for_each_tenant=lambda: Tenant.objects.filter(slug__startswith="swept-"))
def sweep() -> None:
    note_run()


@job(title="Mail to everybody")
def send_to_all() -> None:
    """Send it."""


@job
def send_mail() -> None: ...


@job
def tell_all() -> None:
    """Tell everybody.

    One by one.
    """


@job(log=True)
def chatter() -> None:
    print("printed")  # noqa: T201 - it is kept
    logging.getLogger("app").warning("logged")


@job
def complain(password: str) -> None:
    """Logs an error, and goes on."""
    logging.getLogger("of.the.author").error("complained")


def not_a_job() -> None: ...


def make():  # its function has no name that a worker could import
    @job
    def within() -> None: ...

    return within


if os.environ.get("SAMPLE_RELEASE") == "2":

    @job
    def welcome(name: str) -> str:
        return f"Welcome, {name}"

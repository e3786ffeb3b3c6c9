"""The steps of the demo: start web and workers, submit, watch, add up."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.db import connection
from rich.console import Console

from embedded import fleet
from embedded.processes import Processes
from jobs.models import Job
from reports.demo.burst import Submissions, press_run, submit_batch
from reports.demo.catalogue import CUSTOMERS, Customer
from reports.demo.observer import Observer
from reports.demo.screen import Screen
from reports.demo.summary import Line, add_up
from tenants import auth
from tenants.models import Tenant

SECONDS_WITHOUT_AN_END = 30.0  # seconds without the end of a job, after which the rest counts as lost
REDRAW_EVERY = 0.1  # seconds


@dataclass(frozen=True)
class Party:
    """A customer of the demo as a tenant, with a key for this run."""

    customer: Customer
    tenant: Tenant
    token: str


@contextmanager
def parties() -> Iterator[list[Party]]:
    """Yield every customer with a fresh API key, which is revoked at the end."""
    tenants = {customer.slug: Tenant.objects.get(slug=customer.slug) for customer in CUSTOMERS}
    keys = {slug: auth.issue(tenant, "demo run") for slug, tenant in tenants.items()}
    try:
        yield [Party(customer, tenants[customer.slug], keys[customer.slug][1]) for customer in CUSTOMERS]
    finally:
        for key, _ in keys.values():
            auth.revoke(key)


@contextmanager
def web_and_workers(logs: Path) -> Iterator[int]:
    """Start real processes, as in production; yield the port of the web."""
    with Processes() as processes:
        port = fleet.free_port()
        web = processes.start("web", *fleet.web(port), log=logs / "web.log")
        # As many processes as all tenants have slots, so that only the slots limit a tenant.
        every_slot = sum(customer.slots for customer in CUSTOMERS)
        processes.start("worker", *fleet.worker(concurrency=every_slot, name="demo"), log=logs / "worker.log")
        web.wait_until(lambda: fleet.listens(port))
        yield port


def run(port: int, everyone: list[Party], console: Console) -> tuple[list[Line], int]:
    """Submit and watch to the end; return the lines of the summary, and the number of the observer's looks."""
    newest = Job.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    names = {party.tenant.pk: party.tenant.name for party in everyone}
    observer = Observer(list(names), after_id=newest)
    with observer, Screen(console, names) as screen, ThreadPoolExecutor() as pool:
        pressing = [pool.submit(_press, port, party, seed) for seed, party in enumerate(everyone)]
        batches = [submit_batch(party.customer, party.tenant) for party in everyone]
        while not all(answers.done() for answers in pressing):
            screen.show(observer.sights)
            time.sleep(REDRAW_EVERY)
        presses = [answers.result() for answers in pressing]
        _watch([*presses, *batches], observer, screen)
    tenants = [party.tenant for party in everyone]
    lines = [
        add_up(tenant.name, tenant.pk, parts, observer.sights[tenant.pk])
        for tenant, *parts in zip(tenants, presses, batches, strict=True)
    ]
    return lines, observer.looks


def _press(port: int, party: Party, seed: int) -> Submissions:
    try:
        return press_run(port, party.token, party.customer, party.tenant, seed)
    finally:
        connection.close()  # this thread's own


def _watch(parts: list[Submissions], observer: Observer, screen: Screen) -> None:
    """Show the progress until every job has ended, or until none has for too long."""
    expected = len(set[int]().union(*(part.ids for part in parts)))
    ended, since = -1, time.monotonic()
    while ended < expected and time.monotonic() - since < SECONDS_WITHOUT_AN_END:
        screen.show(observer.sights)
        time.sleep(REDRAW_EVERY)
        now = sum(sight.ended for sight in observer.sights.values())
        if now != ended:
            ended, since = now, time.monotonic()
    screen.show(observer.sights, final=True)

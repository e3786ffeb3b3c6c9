"""`manage.py demo`: a burst of real reports of three tenants, watched, and judged at the end."""

import shutil
import socket
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connections
from rich.console import Console

from embedded import fleet, ready
from embedded.processes import Processes
from jobs.models import Job
from reports.demo import burst, screen, summary
from reports.demo.catalogue import CUSTOMERS
from reports.demo.observer import Observer
from reports.demo.seeding import seed
from tenants import auth
from tenants.models import Tenant

PATIENCE = 30.0  # seconds without any job ending, after which the rest counts as lost
REDRAW_EVERY = 0.1  # seconds


class Command(BaseCommand):
    help = "Submit a burst of reports over HTTP and from models, and watch the limits. Exit status 1: a promise broke."

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.ENVIRONMENT == "production":
            raise CommandError("Not in production: it seeds tenants, and their passwords are known.")
        self.console = Console(highlight=False)
        self.console.print("Preparing the database, and three customers with real data …")
        call_command("migrate", verbosity=0)
        seed()
        logs = Path(tempfile.mkdtemp(prefix="scheduler-demo-"))
        with Processes() as processes:
            port = _start(processes, logs)
            lines, looks = self.run_burst(port)
            self.console.print("Stopping web and workers …")
        self.judge(lines, looks, logs)

    def run_burst(self, port: int) -> tuple[list[summary.Line], int]:
        """Submit everything, watch until it has ended, and add up."""
        tenants = {customer: Tenant.objects.get(slug=customer.slug) for customer in CUSTOMERS}
        names = {tenant.pk: tenant.name for tenant in tenants.values()}
        last = Job.objects.order_by("-pk").first()
        with Observer(list(names), after_id=last.pk if last else 0) as observer:
            presses, batches = self.submit(port, tenants)
            ids = set[int]().union(*(part.ids for part in [*presses, *batches]))
            self.console.print(f"Submitted {len(ids)} jobs; {sum(part.deduplicated for part in presses)} …")
            self.watch(observer, names, len(ids))
        parts = zip(tenants.values(), presses, batches, strict=True)
        lines = [summary.line(t.name, t.pk, [press, batch], observer.sights) for t, press, batch in parts]
        return lines, observer.looks


def _start(processes: Processes, logs: Path) -> int:
    port = fleet.free_port()
    web = processes.start("web", *fleet.web(port), log=logs / "web.log")
    # As many processes as all tenants have slots: what holds a tenant back is then its slots alone.
    every_slot = sum(customer.slots for customer in CUSTOMERS)
    processes.start("worker", *fleet.worker(concurrency=every_slot), log=logs / "worker.log")
    ready.wait(web, lambda: _listens(port))
    return port

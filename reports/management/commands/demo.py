"""`manage.py demo`: run a burst of real reports of three tenants, watch it, and judge the result."""

import logging
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from rich.console import Console

from reports.demo import run, screen
from reports.demo.seeding import seed


class Command(BaseCommand):
    help = "Submit a burst of reports of three tenants and watch their slots. Exit status 1: a promise was broken."

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.ENVIRONMENT == "production":
            raise CommandError("Not in production: the demo's passwords are known to everybody.")
        console = Console(highlight=False)
        console.print("Preparing the database, and three customers with real data …")
        logging.getLogger("jobs").setLevel(logging.WARNING)  # a line for each job would tear the table
        call_command("migrate", verbosity=0)
        seed()
        logs = Path(tempfile.mkdtemp(prefix="scheduler-demo-"))
        console.print("Starting web and workers; submitting over HTTP and from models …")
        with run.web_and_workers(logs) as port, run.parties() as everyone:
            began = time.monotonic()
            lines, looks = run.run(port, everyone, console)
            took = time.monotonic() - began
        console.print(screen.summary(lines))
        jobs = sum(line.jobs for line in lines)
        console.print(f"{jobs} jobs in {took:.1f} s. The observer took {looks:,} looks at committed states.")
        console.print("Dupl.: submits that got an existing job. Wait and run: mean times to the start and from it.")
        console.print("Peak: the most slots that the observer saw in use at once, out of the tenant's slots.")
        console.print("The errors are intended: each tenant submits one job with an unknown parameter.")
        if not all(line.kept for line in lines):
            raise CommandError(f"A job was lost, or a limit was exceeded. Logs: {logs}")
        shutil.rmtree(logs)
        console.print("No job was lost, and no tenant ever exceeded its slots.", style="green")

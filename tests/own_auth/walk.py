"""That project at work: jobs of two tenants by a worker of its own. Run by tests/acceptance/test_friction.py."""

import os
import sys
import tempfile
from pathlib import Path

import django

from embedded.processes import Processes
from tests.waiting import wait_until

WORKER = [sys.executable, "-m", "celery", "-A", "scheduler_project", "worker", "-Q", "default", "-c", "2"]


def main() -> None:
    django.setup()
    from django.core.management import call_command

    call_command("check")
    call_command("migrate", verbosity=0)
    with tempfile.TemporaryDirectory() as logs, Processes() as processes:
        processes.start("worker", WORKER, dict(os.environ), log=Path(logs) / "worker.log")
        try:
            run()
        except BaseException:
            sys.stderr.write((Path(logs) / "worker.log").read_text())
            raise


def run() -> None:
    from jobs import results
    from jobs.models import Job
    from tenants.models import Tenant, TenantQueue
    from tests.own_auth.models import Parcel

    slugs = ("acme", "other")
    tenants = [Tenant.objects.create(name=slug, slug=slug) for slug in slugs]
    for tenant in tenants:
        TenantQueue.objects.create(tenant=tenant, num_slots=2)
        Parcel.objects.create(tenant=tenant).async_.weigh.many([{"scale": f"scale {n}"} for n in range(5)])
    wait_until(lambda: not Job.objects.exclude(status="success").exists(), "all jobs end well", limit=120)
    texts = sorted(results.load(job).value for job in Job.objects.all())
    assert texts == [f"{slug} on the scale {n}" for slug in slugs for n in range(5)], texts


if __name__ == "__main__":
    main()

"""What an adapter of a public benchmark installs: tables, one tenant, one object, and its own worker."""

import os
import subprocess

from benchmarks import fill
from embedded import fleet


def thing(*, slots: int) -> object:
    """The object whose method runs; the tables are made if they are missing, and several adapters share them."""
    from django.core.management import call_command
    from django.db import connection

    from benchmarks.workload.models import Thing
    from jobs.models import Queue
    from tenants.models import Tenant, TenantQueue

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(20261124)")  # another adapter may do the same
        try:
            call_command("migrate", verbosity=0, run_syncdb=True)
        finally:
            cursor.execute("SELECT pg_advisory_unlock(20261124)")
    Queue.objects.update_or_create(name="default", defaults={"pool": fill.POOL})
    tenant, _ = Tenant.objects.get_or_create(slug="bench", defaults={"name": "bench"})
    TenantQueue.objects.update_or_create(tenant=tenant, defaults={"num_slots": 10 * slots})
    return Thing.objects.get_or_create(tenant=tenant)[0]


def start_worker(processes: int) -> "subprocess.Popen[bytes]":
    """In a group of its own, so that it can be killed as a whole."""
    command = fleet.worker(fill.POOL, processes, f"bench-{os.getpid()}")
    return subprocess.Popen(  # the caller stops it
        command.argv, env=command.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )

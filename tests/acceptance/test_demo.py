"""`manage.py demo` as a newcomer runs it: real web, real workers, real data."""

import subprocess

import pytest

from embedded import fleet
from jobs.models import Job
from reports.demo import customer_database
from tenants.models import ApiKey, Tenant

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.long("the command of the demo; what it shows is in tests/integration/reports/test_demo.py"),
]


def test_the_demo_runs_every_job_within_the_limits(environ, start_worker):
    argv, env = fleet.manage("demo", environ=environ)
    try:
        done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=180, check=False)
    finally:
        for tenant_id in Tenant.objects.values_list("pk", flat=True):
            customer_database.remove(tenant_id)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No job was lost" in done.stdout
    for tenant in Tenant.objects.all():
        assert tenant.name in done.stdout
    assert Job.objects.count() > 200
    assert not Job.objects.filter(end_time=None).exists()
    assert not ApiKey.objects.filter(name="demo run", revoked_at=None).exists()

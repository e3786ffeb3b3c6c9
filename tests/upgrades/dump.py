"""Write the database of a release, with a job in every status: `make dump VERSION=0.1.0`.

That is done once, when the release is tagged. tests/acceptance/test_upgrade.py migrates each such database. A dump is
never changed.
"""

import os
import subprocess
import sys
from pathlib import Path

from embedded import binaries

HERE = Path(__file__).parent
# As SQL that any client can send; without the tables of the tests' own apps.
OPTIONS = ["--no-owner", "--no-privileges", "--inserts", "--exclude-table=sample_*"]


def fill() -> None:
    """Add a tenant with a report, and a job of it in every status. Its slots are in use in a pool of their own."""
    from jobs.lifecycle import HOLDING, Status
    from reports.models import DataReport, DataSource
    from tenants.models import Tenant, TenantQueue
    from tests.factories import QueueFactory, make_job

    tenant = Tenant.objects.create(name="Acme", slug="acme")
    TenantQueue.objects.create(tenant=tenant, num_slots=len(Status))
    source = DataSource.objects.create(tenant=tenant, name="nowhere", url="postgresql://reader@nowhere.invalid/none")
    report = DataReport.objects.create(tenant=tenant, source=source, name="one", sql="SELECT 1")
    free, used = QueueFactory(), QueueFactory(name="used", pool="used")
    for status in Status:
        make_job(tenant, status, source_id=str(report.pk), queue=used if status in HOLDING else free)


def dumped(database_url: str) -> str:
    """Return the database as SQL that a client can run."""
    command = [binaries.postgres().parent / "pg_dump", *OPTIONS, database_url]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return "".join(line for line in text.splitlines(keepends=True) if line.strip() and line[0] not in "\\-")


def main(version: str) -> None:
    """Migrate the database of DATABASE_URL, which is empty, fill it, and write it to a file."""
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    fill()
    (HERE / f"{version}.sql").write_text(dumped(os.environ["DATABASE_URL"]))


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    main(sys.argv[1])

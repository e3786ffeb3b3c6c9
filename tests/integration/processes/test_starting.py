"""What a worker waits for before it takes jobs."""

from types import SimpleNamespace

import pytest
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder

from jobs.worker import bootstrap


@pytest.mark.django_db
def test_a_worker_waits_until_the_database_is_migrated_even_if_it_is_away_meanwhile(monkeypatch, caplog):
    migrations = MigrationRecorder(connection)
    migrations.record_unapplied("tenants", "0001_initial")
    open_migrations, looks = bootstrap.open_migrations, []

    def look() -> list[str]:
        looks.append(len(looks))
        if len(looks) == 2:
            raise OperationalError("away")
        return open_migrations()

    def sleep(seconds: float) -> None:
        if len(looks) == 3:
            migrations.record_applied("tenants", "0001_initial")

    monkeypatch.setattr(bootstrap, "open_migrations", look)
    monkeypatch.setattr(bootstrap, "time", SimpleNamespace(sleep=sleep))
    monkeypatch.setattr(connection, "close", lambda: None)  # the test's transaction
    bootstrap.check_schema()
    assert looks == [0, 1, 2, 3]
    assert caplog.messages == [
        "database lacks migrations, waiting for manage.py migrate lacks=tenants.0001_initial",
    ]
    bootstrap.check_schema()
    assert looks == [0, 1, 2, 3, 4]  # a database that is migrated holds up nobody

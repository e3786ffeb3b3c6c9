"""A dump of jobs in every status is restored on another server, as deploy/README.md says, and life goes on."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from django.db import connection

from embedded import REPOSITORY, binaries
from jobs import store
from jobs.engine.verbs.cancel import cancel
from jobs.lifecycle import Status
from jobs.models import FailedAttempt, Job
from jobs.store import EVERY_TENANT
from tenants import auth
from tenants.models import ApiKey
from tests.acceptance.following import ended
from tests.acceptance.restoring import DUMP, TypeIn, restored_elsewhere, worker_of
from tests.factories import ThingFactory, make_job
from tests.sample.models import Run
from tests.sql import sql

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.long(
        "what a dump of a running system brings back; skipped numbers are in tests/integration/engine/test_numbers.py"
    ),
]
ELSEWHERE = f"""
manage() {{ (cd {REPOSITORY} && .venv/bin/python manage.py "$@"); }}
systemctl() {{ :; }}
valkey-cli() {{ :; }}
"""  # the workers are the test's; its other Valkey is empty


@pytest.fixture
def type_in(tmp_path: Path) -> TypeIn:
    """What an operator types, with the programs of PostgreSQL that fit its server."""
    programs = binaries.postgres().parent
    dump, major = shutil.which("pg_dump", path=programs), connection.pg_version // 10_000
    version = subprocess.run([dump, "--version"], capture_output=True, text=True, check=True).stdout if dump else ""
    if f" {major}." not in version or shutil.which("pg_restore", path=programs) is None:
        pytest.skip(f"no pg_dump and pg_restore of PostgreSQL {major} in {programs}")

    def type_in(commands: str, environ: dict[str, str]) -> str:
        environ = environ | {"PATH": f"{programs}:{os.environ['PATH']}", "VALKEY_PASSWORD": "none"}
        bash = ["bash", "-eu", "-c", ELSEWHERE + commands]
        done = subprocess.run(bash, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{commands}\n{done.stdout}{done.stderr}"
        return done.stdout

    return type_in


def statuses(*ids: int) -> dict[int, str]:
    return dict(Job.objects.filter(pk__in=ids).values_list("pk", "status"))


def grow_older() -> None:
    """So that our transactions have higher numbers than those of a server that is new."""
    for _ in range(5000):
        sql("SELECT pg_current_xact_id()")


def from_the_future() -> tuple[bool, bool]:
    """Whether the numbers of what is told to no dispatch yet, and of what the last one has seen, are above ours."""
    return sql("""
        SELECT (SELECT min(xid) FROM arrivals) > this.number, (SELECT max(since) FROM door) > this.number
        FROM (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS number) this
    """)[0]


def test_what_a_dump_brings_back_and_what_runs_twice(type_in, environ, register, settings, tmp_path):
    settings.JOBS_BEAT_INTERVAL = 1
    grow_older()
    lost_worker = register(concurrency=100)
    owner = ThingFactory(tenant__queue__num_slots=50)
    stranger, newcomer = ThingFactory(tenant__queue__num_slots=0), ThingFactory()
    running, done, queued = (owner.async_.echo(name) for name in ("running", "done", "queued"))
    assert store.start(running, 1, store.Seat.here(lost_worker))
    assert store.start(done, 1, store.Seat.here(lost_worker))
    assert store.succeed(done, 1, {}, None)
    later, waiting = owner.async_(delay=3600).echo("later"), stranger.async_.echo("waiting")
    dead = make_job(owner.tenant, Status.DEAD).pk
    key, _ = auth.issue(owner.tenant, "leaked later")
    call = {"source_type": "sample.thing", "source_id": str(owner.pk), "source_method": "echo", "args": {}}
    arrived = make_job(owner.tenant, Status.CREATED, **call).pk  # and no dispatch was made
    ids = (running, done, queued, later, waiting, dead, arrived)
    before = statuses(*ids)
    assert [before[pk] for pk in ids] == ["running", "success", "queued", "scheduled", "created", "dead", "created"]
    type_in(DUMP, environ)

    assert store.succeed(running, 1, {}, None)
    assert store.start(queued, 1, store.Seat.here(lost_worker))
    assert store.succeed(queued, 1, {}, None)
    assert cancel(later, tenant_id=EVERY_TENANT)
    auth.revoke(key)
    after = owner.async_.echo("after the dump")

    with restored_elsewhere(type_in, tmp_path) as there:
        assert statuses(*ids, after) == before
        assert from_the_future() == (True, True)
        new = newcomer.async_.echo("with a number that nobody has had")  # its dispatch is the first there
        assert new > after
        with worker_of(there, tmp_path / "worker.log"):
            again, sent_again = ended(running), ended(queued)
            assert (again.status, again.attempt, again.crashes) == ("success", 2, 1)
            assert FailedAttempt.objects.get(job=running).error_class == "WorkerGone"
            assert (sent_again.status, sent_again.attempt, sent_again.crashes) == ("success", 1, 0)
            assert ended(arrived).status == "success"
            as_they_were = (done, later, waiting, dead)
            assert statuses(*as_they_were) == {pk: before[pk] for pk in as_they_were}
            assert not Run.objects.filter(job_id__in=as_they_were).exists()
            assert ApiKey.objects.get(pk=key.pk).revoked_at is None
            assert ended(new).status == "success"
            repairs, verdict = type_in("manage check_invariants", there).splitlines()
            assert verdict == "No violations found."
            assert "lane_lost" not in repairs  # no lane had to be found by the clock

"""PostgreSQL takes no changes for a while, as while another server takes over: it is away, to everybody."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from embedded import engines as embedded_engines
from jobs.engine.process import runtime
from jobs.models import FailedAttempt, Job
from scheduler_project.errors import AWAY
from tenants import auth
from tests.acceptance.asking import ask
from tests.acceptance.following import ended, running
from tests.chaos import own_engines
from tests.factories import TenantFactory, ThingFactory
from tests.sample.models import Run
from tests.waiting import wait_until

pytestmark = pytest.mark.long(
    "a server that only reads; what counts as away is in tests/integration/store/test_away.py"
)

DATABASE = "scheduler"


@pytest.fixture(params=["", "&target_session_attrs=any"], ids=["read-write", "any"])
def environ(request, tmp_path: Path, django_db_blocker) -> Iterator[dict[str, str]]:
    """Of processes on engines of our own: they look for a server that takes changes, or take any."""
    with django_db_blocker.unblock(), own_engines.running(tmp_path) as engines:
        runtime.change(carrier=lambda claimed: None)  # our broker is another: what we claim, the clock sends
        url = engines.environ[embedded_engines.DATABASE] + request.param
        quick = {"JOBS_BEAT_INTERVAL": "1", "JOBS_HAND_OVER_TIMEOUT": "1", "TELL_OVER_HTTP": "1"}
        yield {
            **engines.environ,
            **quick,
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            embedded_engines.DATABASE: url,
        }


@contextmanager
def read_only() -> Iterator[None]:
    """All sessions are cut, and new ones take no changes. Those that were made meanwhile stay so."""
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as own:
        own.execute(f"ALTER DATABASE {DATABASE} SET default_transaction_read_only = on")
        own.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        try:
            yield
        finally:
            own.execute(f"ALTER DATABASE {DATABASE} RESET default_transaction_read_only")
    connection.close()


def test_every_outcome_waits_and_a_submit_gets_a_clear_answer(start_worker, web, tmp_path):
    worker = start_worker()
    [log] = tmp_path.glob("default*.log")
    jobs, ready = f"{web.url}/api/v1/jobs", f"{web.url}/readyz"
    thing = ThingFactory(tenant=TenantFactory(queue__num_slots=5))
    _, token = auth.issue(thing.tenant, "test")
    files = [tmp_path / f"go{n}" for n in range(2)]
    ids = [thing.async_.wait_for_file(str(file)) for file in files]
    for job_id in ids:
        running(job_id)
    call = {"source_type": "sample.thing", "source_id": str(thing.pk), "source_method": "tell"}
    assert ask(jobs, token, call)[0] // 100 == 2
    with read_only():
        for file in files:
            file.touch()
        wait_until(lambda: not any(file.exists() for file in files), "the bodies end")
        for _ in range(3):  # more than there are threads: some have met it before
            status, text = ask(jobs, token, call)
            assert (status, json.loads(text)["detail"]) == (503, AWAY)
        assert ask(ready)[0] == 503
        wait_until(lambda: "thread without database thread=clock" in log.read_text(), "the clock notices it")
    for job_id in ids:
        job = ended(job_id)
        assert (job.status, job.attempt, job.crashes) == ("success", 1, 0)
        assert Run.objects.filter(job_id=job_id).count() == 1
    wait_until(lambda: ask(ready)[0] == 200, "the web process is ready again")
    for _ in range(3):
        assert ask(jobs, token, call)[0] // 100 == 2
    wait_until(lambda: not Job.objects.exclude(status="success").exists(), "all jobs end")
    assert worker.alive
    assert not FailedAttempt.objects.exists()
    assert "process ends" not in log.read_text()
    assert "Traceback" not in log.read_text()

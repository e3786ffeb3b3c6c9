"""A project that says nothing of its database sessions, on a PostgreSQL that says much: jobs run as elsewhere."""

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.db import connection
from psycopg import sql

from embedded import postgresql
from jobs.engine.process import runtime
from jobs.models import Job
from tenants import auth
from tests.acceptance.asking import ask
from tests.chaos import own_engines
from tests.factories import TenantFactory, ThingFactory
from tests.waiting import wait_until

pytestmark = pytest.mark.long("settings of a plain server; `make test-15` runs it, too")

# Whatever is compiled is told: each statement, with its plan, when it has ended.
TOLD = {"session_preload_libraries": "auto_explain", "auto_explain.log_min_duration": "0"}
TEXT = re.compile(r"Query Text: -- (\w+)\n")
COMPILED = re.compile(r"Query Text: -- (\w+)\n(?:\t.*\n)*?\tJIT:\n")


@pytest.fixture
def environ(tmp_path: Path, django_db_blocker) -> Iterator[dict[str, str]]:
    """Of processes with Django's own OPTIONS, on engines of our own."""
    with django_db_blocker.unblock(), own_engines.running(tmp_path) as engines:
        runtime.change(carrier=lambda claimed: None)  # our broker is another: what we claim, the clock sends
        yield {
            **engines.environ,
            "JOBS_BEAT_INTERVAL": "1",
            "JOBS_HAND_OVER_TIMEOUT": "3",
            "TELL_OVER_HTTP": "1",
            "DJANGO_SETTINGS_MODULE": "tests.acceptance.plain",
        }


def set_for_all(settings: dict[str, str]) -> None:
    """For the later sessions of every role in our database, as its owner or its provider may."""
    there = connection.get_connection_params() | {"user": postgresql.ADMIN}
    with psycopg.connect(**there, autocommit=True) as admin:
        for name, value in settings.items():
            names = map(sql.Identifier, name.split("."))
            admin.execute(
                sql.SQL("ALTER DATABASE {} SET {} = {}").format(
                    sql.Identifier(postgresql.DATABASE), sql.SQL(".").join(names), sql.Literal(value)
                )
            )
    connection.close()


def run_four(web) -> None:
    """Jobs by HTTP, and a long one, dispatched by who submits or by a worker, from the submit to the end."""
    thing = ThingFactory(tenant=TenantFactory(queue__num_slots=5))
    _, token = auth.issue(thing.tenant, "test")
    call = {"source_type": "sample.thing", "source_id": str(thing.pk), "source_method": "tell"}
    for _ in range(3):
        status, said = ask(f"{web.url}/api/v1/jobs", token, call)
        assert status // 100 == 2, said
        wait_until(lambda: not Job.objects.exclude(status="success").exists(), "the job ends")
    thing.async_.hold_row(0.3)  # beyond its slice
    wait_until(lambda: not Job.objects.exclude(status="success").exists(), "the last one ends")


# What runs in the session of a caller, or says only then that the rest is not to be compiled.
OF_CALLERS = {"submit", "worth", "deaths", "knock"}
OF_JOBS = {"submit", "knock", "fold", "claim", "start", "succeed", "follow", "promote"}
OF_ALL = OF_JOBS | {"beat", "may_run", "recount_waiting"}


@pytest.mark.parametrize(
    ("dear", "may_be"), [("25000", set()), ("0", OF_CALLERS)], ids=["a quarter of the default", "whatever it costs"]
)
def test_no_statement_of_the_engine_is_compiled(dear, may_be, environ, request, tmp_path):
    set_for_all({"jit": "on", "jit_above_cost": dear, "jit_optimize_above_cost": dear, **TOLD})
    with connection.cursor() as cursor:
        cursor.execute("SET jit = on")
        cursor.execute("SELECT pg_jit_available()")
        if not cursor.fetchone()[0]:
            pytest.skip("this PostgreSQL has no LLVM: make test-15 has")
    start_worker, web = request.getfixturevalue("start_worker"), request.getfixturevalue("web")
    start_worker()
    run_four(web)
    told = tmp_path / "log" / "postgresql.log"
    wait_until(lambda: set(TEXT.findall(told.read_text())) >= OF_ALL, "each has run")
    log = told.read_text()
    assert set(COMPILED.findall(log)) <= may_be
    assert ("JIT:" in log) == bool(may_be)  # it would be told


ODD = {
    "enable_nestloop": "off",
    "enable_indexscan": "off",
    "enable_indexonlyscan": "off",
    "join_collapse_limit": "1",
    "from_collapse_limit": "1",
    "plan_cache_mode": "force_custom_plan",
}


def test_jobs_run_whatever_the_database_says_of_plans(environ, request):
    set_for_all(ODD)
    request.getfixturevalue("start_worker")()
    run_four(request.getfixturevalue("web"))

"""Web processes behind PgBouncer in transaction mode, with the server's own address for their dispatches."""

import json
import os
import re
import shutil
import socket
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest
from django.db import connection

from embedded import fleet
from jobs.models import Job
from tenants import auth
from tenants.models import TenantQueue
from tests.factories import QueueFactory, ThingFactory
from tests.sql import value
from tests.waiting import wait_until

PGBOUNCER = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/usr/local/bin")
pytestmark = [
    pytest.mark.long(
        "what PgBouncer loses of a session; what is stated for each is in tests/integration/store/test_stated.py"
    ),
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(PGBOUNCER is None, reason="no pgbouncer here"),
]
README = (Path(__file__).parents[2] / "deploy/README.md").read_text()
CONNECTIONS = 3  # to the server, for all requests


@pytest.fixture
def environ(environ):
    return environ | {"TELL_OVER_HTTP": "1"}


@pytest.fixture
def pooled(request, processes, tmp_path) -> str:
    """The URL of the test database by way of a PgBouncer that is set up as deploy/README.md says, and the parameter."""
    settings, port = connection.settings_dict, fleet.free_port()
    [query] = re.findall(r"^scheduler = .*(connect_query=.*)$", README, re.MULTILINE)
    [mode] = re.findall(r"^pool_mode = .*$", README, re.MULTILINE)
    server = {"host": settings["HOST"] or settings["OPTIONS"].get("host"), "port": settings["PORT"] or 5432}
    server |= {"dbname": settings["NAME"], "user": settings["USER"], "password": settings["PASSWORD"]}
    target = " ".join(f"{name}={value}" for name, value in server.items() if value)
    config = tmp_path / "pgbouncer.ini"
    config.write_text(
        f"[databases]\npooled = {target} {query}\n[pgbouncer]\n{mode}\ndefault_pool_size = {CONNECTIONS}\n"
        f"auth_type = any\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
        f"{getattr(request, 'param', '')}\n"
    )
    log = tmp_path / "pgbouncer.log"
    process = processes.start("pgbouncer", [PGBOUNCER, str(config)], log=log, not_root=True)
    wait_until(lambda: _listens(port) or not process.alive, "pgbouncer listens")
    assert process.alive, log.read_text()
    return f"postgres://{quote(server['user'])}@127.0.0.1:{port}/pooled"


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def url(environ, pooled, processes, tmp_path) -> str:
    port = fleet.free_port()
    direct = environ["DATABASE_URL"]
    direct += ("&" if "?" in direct else "?") + "application_name=direct"
    settings = environ | {"DATABASE_URL": pooled, "DATABASE_DIRECT_URL": direct}
    processes.start("web", *fleet.web(port, settings), log=tmp_path / "web.log")
    wait_until(lambda: _listens(port), "the web server listens")
    return f"http://127.0.0.1:{port}"


def test_nothing_whose_sessions_others_would_get_starts_behind_it(environ, pooled, processes, tmp_path):
    settings = environ | {"DATABASE_URL": pooled, "DATABASE_DIRECT_URL": environ["DATABASE_URL"]}  # as a web process
    for name, command in {"worker": fleet.worker(), "clock": fleet.manage("clock")}.items():
        log = tmp_path / f"{name}.log"
        assert processes.start(name, command.argv, settings, log=log).wait(60) == os.EX_CONFIG
        assert "A pooler in transaction mode stands before the database" in log.read_text()


@pytest.mark.parametrize("pooled", ["ignore_startup_parameters = options"], indirect=True)
def test_no_web_process_starts_behind_it_without_the_servers_own_address(environ, pooled, processes, tmp_path):
    log = tmp_path / "refused.log"
    command = fleet.web(fleet.free_port(), environ | {"DATABASE_URL": pooled})
    assert processes.start("refused", *command, log=log).wait(60) == os.EX_CONFIG
    assert "DATABASE_DIRECT_URL" in log.read_text()


def backends(condition: str) -> int:
    return value(f"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND {condition}")


def test_web_processes_share_few_connections_and_nothing_of_a_session_is_lost(url, start_worker):
    before = backends("true")
    thing = ThingFactory()
    TenantQueue.objects.filter(tenant=thing.tenant).update(num_slots=2)
    QueueFactory(name="default")
    _, token = auth.issue(thing.tenant, "test")
    things = [ThingFactory(tenant=thing.tenant).pk for _ in range(24)]  # one for each job: none is identical to another
    call = {"source_type": "sample.thing", "source_method": "tell"}
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def asked(path: str, call: dict | None = None) -> dict:
        data = json.dumps(call).encode() if call else None
        with urllib.request.urlopen(urllib.request.Request(url + path, data, headers), timeout=60) as response:
            return json.load(response)

    def ran(number: int) -> str:
        job = asked("/api/v1/jobs", {**call, "source_id": str(things[number])})
        while job["status"] not in ("success", "error", "dead"):
            job = asked(f"/api/v1/jobs/{job['id']}?wait=20")
        return job["status"]

    with ThreadPoolExecutor(12) as pool:
        early = [pool.submit(ran, number) for number in range(12)]
        wait_until(lambda: Job.objects.count() == 12, "all are stored")
        of_web = backends("true") - before
        start_worker()
        late = [pool.submit(ran, number) for number in range(12, 24)]
        assert {one.result() for one in early + late} == {"success"}
    assert of_web <= CONNECTIONS + 1
    assert backends("application_name = 'direct'") == 1  # that of the dispatches
    assert backends("pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = 1)") == 0

"""A real web process, and requests that no client of good will sends."""

import json
import os
import resource
import shlex
import signal
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Event
from urllib.parse import urlsplit

import pytest
from django.db import transaction

from embedded import fleet
from jobs.calls.compose import compose_by_name
from jobs.engine.submitting.submit import submit
from jobs.engine.verbs.cancel import cancel
from jobs.engine.verbs.revive import revive
from jobs.lifecycle import Status
from tenants import auth
from tests.factories import QueueFactory, TenantFactory, make_job
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.long(
        "the server's own parser; what the handler refuses is in tests/integration/project/test_handler.py"
    ),
]


HALF = b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
FILES = 1024  # what systemd gives a process, whose unit says nothing


def connected(url: str) -> socket.socket:
    address = urlsplit(url)
    return socket.create_connection((address.hostname, address.port), timeout=60)


def test_requests_that_wait_for_a_hosts_transaction_stop_no_stranger(environ, processes, tmp_path):
    """A host's import holds jobs of its tenant; its programs ask for the same ones, and ask again. No lock
    times out by itself.
    """
    QueueFactory(name="default")
    tenant, log = TenantFactory(), tmp_path / "web.log"
    (_, mine), (_, strangers) = auth.issue(tenant, "test"), auth.issue(TenantFactory(), "test")
    waiting, ended = make_job(tenant, Status.CREATED), make_job(tenant, Status.CANCELLED)
    processes.start("web", *fleet.web(port := fleet.free_port(), environ | {"DB_LOCK_TIMEOUT": "0"}), log=log)
    url = f"http://127.0.0.1:{port}"
    call = {"source_type": "reports.datareport", "source_method": "refresh_all"}

    def ask(path, key="", body=None, **headers):
        headers |= {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(urllib.request.Request(url + path, data, headers), timeout=60) as response:
                return response.status, {}
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers
        except OSError:
            return 0, {}

    wait_until(lambda: ask("/readyz")[0] == 200, "the web server is ready")
    posts = [
        ("/api/v1/jobs", mine, call),
        ("/api/v1/jobs/bulk", mine, {"jobs": [call]}),
        (f"/api/v1/jobs/{waiting.pk}/cancel", mine, {}),
        (f"/api/v1/jobs/{ended.pk}/revive", mine, {}),
    ]
    over = Event()

    def again_and_again(post, headers):
        answers = [ask(*post, **headers)]
        while not over.is_set():
            answers.append(ask(*post, **headers))
        return answers

    with ThreadPoolExecutor(24) as clients, transaction.atomic():
        submit(compose_by_name(tenant, by_tenant=True, source_id=None, args={}, **call))
        assert cancel(waiting.pk, tenant_id=tenant.pk)
        assert revive(ended.pk, tenant_id=tenant.pk)
        keyed = [{"Idempotency-Key": "one"}, {}, {}]
        asked = [clients.submit(again_and_again, post, more) for post in posts for more in keyed * 2]
        looks = [(ask("/api/v1/stats", strangers)[0], ask("/readyz")[0]) for _ in range(20)]
        over.set()
        answers = [answer for one in asked for answer in one.result()]
    assert looks == [(200, 200)] * 20
    assert {(status, headers.get("Retry-After")) for status, headers in answers} == {(503, "5")}
    assert "Traceback" not in log.read_text()
    assert ask(*posts[0])[0] == 200, "the host has committed"


def test_a_waiting_client_is_answered_whole_when_the_server_stops(environ, processes, tmp_path):
    tenant = TenantFactory()
    job, (_, key) = make_job(tenant, Status.RUNNING), auth.issue(tenant, "test")
    process = processes.start(
        "web", *fleet.web(port := fleet.free_port(), environ | {"WEB_CONCURRENCY": "1"}), log=tmp_path / "web.log"
    )
    url = f"http://127.0.0.1:{port}"

    def is_there() -> bool:
        try:
            return urllib.request.urlopen(f"{url}/healthz", timeout=60).status == 200
        except OSError:
            return not process.alive

    wait_until(is_there, "it answers")
    asked = f"GET /api/v1/jobs/{job.pk}%s HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n"
    with connected(url) as poll, connected(url) as stream:
        for client, path in ((poll, "?wait=30"), (stream, "/events")):
            client.sendall((asked % path).encode())
        heads = [poll.recv(1), stream.recv(1)]  # both are admitted
        os.kill(process.pid, signal.SIGTERM)
        polled, streamed = (
            head + b"".join(iter(lambda c=client: c.recv(65536), b""))
            for head, client in zip(heads, (poll, stream), strict=True)
        )
    assert json.loads(polled.partition(b"\r\n\r\n")[2])["id"] == job.pk
    assert streamed.endswith(b": the server stops\n\n")


def test_bytes_after_a_request_with_two_lengths_are_not_served(web):
    hidden = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
    with connected(web.url) as client:
        client.sendall(head + b"0\r\n\r\n" + hidden)
        told = b"".join(iter(lambda: client.recv(65536), b""))  # until it is closed
    assert told.startswith(b"HTTP/1.1 400 ")
    assert told.count(b"HTTP/1.1 ") == 1


@pytest.fixture
def many_files() -> Iterator[None]:
    """As clients on other machines have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_half_requests_stop_nobody_elses(environ, processes, tmp_path, many_files):
    """More of them than the process may have files, all from one address; and it cannot have more files."""
    log, command = tmp_path / "web.log", fleet.web(port := fleet.free_port(), environ)
    shell = ["bash", "-c", f"ulimit -n {FILES} && exec {shlex.join(command.argv)}"]
    process = processes.start("web", shell, command.env, log=log)
    url = f"http://127.0.0.1:{port}"

    def answers(path: str) -> int:
        with urllib.request.urlopen(f"{url}{path}", timeout=60) as response:
            return response.status

    def is_there() -> bool:
        try:
            return answers("/healthz") == 200
        except OSError:
            return not process.alive

    wait_until(is_there, "it answers")
    with ExitStack() as open_ones:
        for n in range(FILES + 76):
            client = open_ones.enter_context(connected(url))
            client.sendall(HALF if n % 4 else b"POST /")
            if n % 200 == 0:
                assert answers("/healthz") == 200
        for _ in range(5):
            assert (answers("/healthz"), answers("/readyz"), answers("/accounts/login/")) == (200, 200, 200)
        client.sendall(b"x" * 99)
        assert client.recv(100).startswith(b"HTTP/1.1 401 "), "the newest may still arrive"
    told = log.read_text()
    assert "requests that do not arrive are closed" in told
    assert "out of system resource" not in told
    assert len(told.splitlines()) < 100

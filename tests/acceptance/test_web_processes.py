"""Several web processes: replaced one after the other while requests go on; and a log without a secret in it."""

import http.client
import json
import os
import re
import signal
import urllib.error
import urllib.request

import pytest

from embedded import fleet
from tenants import auth
from tests.factories import QueueFactory, TenantFactory, ThingFactory
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.long("a reload of the web processes; secrets are in tests/integration/project/test_secrets.py"),
]
SECRET = "hunter2-of-the-broker"


@pytest.fixture
def start(environ, processes, tmp_path):
    def start(**settings):
        port, log = fleet.free_port(), tmp_path / "web.log"
        process = processes.start("web", *fleet.web(port, environ | settings), log=log)
        url = f"http://127.0.0.1:{port}"
        wait_until(lambda: asked(f"{url}/readyz") == 200, "the web server is ready")
        return process, url, log

    return start


def asked(url, data=None, *, again=True, **headers):
    request = urllib.request.Request(url, data, headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status
    except urllib.error.HTTPError as error:
        error.close()
        return error.code
    except http.client.RemoteDisconnected:
        # A process that leaves had accepted the connection, and closed it before the request came. A browser or a proxy
        # asks again.
        return asked(url, data, again=False, **headers) if again else 0
    except OSError:
        return 0


def test_a_reload_replaces_every_process_and_refuses_nobody(start):
    process, url, log = start(WEB_CONCURRENCY="2")
    wait_until(lambda: len(re.findall(r"Started server process", log.read_text())) >= 2, "both serve")
    first = set(re.findall(r"Started server process \[(\d+)\]", log.read_text()))
    os.kill(process.pid, signal.SIGHUP)
    answers = []

    def replaced():
        answers.append(asked(f"{url}/readyz"))
        return len(set(re.findall(r"Finished server process \[(\d+)\]", log.read_text())) & first) == 2

    wait_until(replaced, "both are replaced")
    answers += [asked(f"{url}/readyz") for _ in range(5)]
    assert set(answers) == {200}


def test_no_secret_gets_into_the_log_or_an_answer_whatever_fails(start):
    """With engines that are out of reach, a name that is not ours, and a mail server that prints what it is given."""
    _, url, log = start(
        CELERY_BROKER_URL=f"redis://:{SECRET}@127.0.0.1:1/0",
        CACHE_URL=f"redis://:{SECRET}@127.0.0.1:1/1",
        JOBS_DEATH_WEBHOOK=f"http://127.0.0.1:1/{SECRET}",
        ADMINS="ops@example.com",
        EMAIL_URL="consolemail://",
    )
    tenant = TenantFactory()
    thing = ThingFactory(tenant=tenant)
    QueueFactory(name="default")
    _, key = auth.issue(tenant, "test")
    bearer = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    job = thing.async_.echo()
    call = {"source_type": "reports.datareport", "source_method": "refresh_all"}
    answers = [
        asked(f"{url}/", Host="evil.example"),
        asked(f"{url}/api/v1/jobs", Host="evil.example"),
        asked(f"{url}/api/v1/jobs", json.dumps(call).encode(), **bearer),
        asked(f"{url}/api/v1/jobs", json.dumps(call | {"at": "2027-01-01T00:00:00+16:00"}).encode(), **bearer),
        asked(f"{url}/api/v1/jobs/{job}/result", **bearer),
        asked(f"{url}/api/v1/jobs", b"{", **bearer),
        asked(f"{url}/accounts/login/", b"username=a&password=" + SECRET.encode()),
    ]
    assert set(answers) <= {200, 202, 400, 403, 422}, answers
    told = log.read_text()
    assert SECRET not in told
    assert key.partition(".")[2] not in told
    assert "Subject:" not in told, "a mail"

"""Real processes on the test database: Celery workers and a web server."""

import os
import signal
import sys
import urllib.request
from asyncio import AbstractEventLoop, _set_running_loop, get_running_loop
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import connection
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from embedded import engines, fleet
from embedded.process import Process
from embedded.processes import Processes
from jobs.engine.process import runtime
from jobs.models import Worker
from jobs.worker import message
from tests.acceptance.installing import database, wheel  # noqa: F401 - fixtures
from tests.acceptance.neighbour import neighbour, start_neighbours_worker  # noqa: F401 - fixtures
from tests.acceptance.work import KINDS, Work
from tests.callers import browser_of, superuser
from tests.factories import ThingFactory
from tests.sample.models import Thing
from tests.waiting import wait_until
from tests.warm import WarmProcesses
from tools.chromium import find_chromium

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LAST_LINES = 60  # of a process's log that are shown if its test fails


@pytest.fixture(autouse=True)
def sent() -> None:
    """Here the wire is the real one."""
    runtime.change(carrier=message.hand_over)


@pytest.fixture
def without_engines() -> dict[str, str]:
    """Our environment without the engines of these tests: others are started."""
    ours = {engines.DATABASE, engines.BROKER, engines.CACHE, engines.NAMES, "DJANGO_SETTINGS_MODULE"}
    return {name: value for name, value in os.environ.items() if name not in ours}


@pytest.fixture
def environ(transactional_db) -> dict[str, str]:
    """Our environment, with the test database in it; beats are quick, so that the dead are soon known, but
    not so quick that a busy machine is one of them."""
    parts = urlsplit(os.environ["DATABASE_URL"])
    url = urlunsplit(parts._replace(path="/" + connection.settings_dict["NAME"]))
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": url,
        "JOBS_BEAT_INTERVAL": "1",
        "JOBS_HAND_OVER_TIMEOUT": "3",
    }


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    with WarmProcesses() as processes:
        yield processes
        failed = []
        for log in sorted(tmp_path.glob("*.log")):
            lines = log.read_text(errors="replace").splitlines(keepends=True)
            failed += [line for line in lines if "duty of the clock failed" in line]
            sys.stdout.write("".join([f"--- {log.name}\n", *lines[-LAST_LINES:]]))
        for process in processes:  # the test is over: nobody need wait for a stop in good order
            process.signal_group(signal.SIGKILL)
    # The server goes on with what they had asked, for as long as that takes; and nobody could drop the database.
    with suppress(psycopg.OperationalError), psycopg.connect(**connection.get_connection_params()) as session:
        session.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name LIKE 'jobs:%'"
        )
    assert not failed  # a worker goes on, whatever a duty meets


@pytest.fixture
def start_worker(environ, processes, tmp_path: Path) -> Callable[..., Process]:
    """Start a real Celery worker and wait until it is registered: `start_worker(pool="default", concurrency=2)`."""
    app = message.run_attempt.app
    with app.connection_for_write() as fresh:  # a pooled one may not have survived the test before
        app.control.purge(connection=fresh)
    count = 0

    def start_worker(pool: str = "default", concurrency: int = 2) -> Process:
        nonlocal count
        count += 1
        name = f"{pool}{count}-{os.getpid()}"
        command = fleet.worker(pool, concurrency, name, environ)
        process = processes.start(name, *command, log=tmp_path / f"{name}.log")
        wait_until(
            lambda: Worker.objects.filter(pid=process.pid, gone_at=None).exists() or not process.alive,
            f"worker {name} registers",
        )
        assert process.alive, (tmp_path / f"{name}.log").read_text()
        return process

    return start_worker


@pytest.fixture(params=sorted(KINDS))
def work(request, environ, start_worker, tmp_path: Path) -> Work:
    """Jobs for a worker of each kind; of one alone: `parametrize("work", ["light"], indirect=True)`."""
    environ["CHAOS_EVIDENCE"] = str(tmp_path / "evidence")
    return Work(KINDS[request.param], tmp_path, tmp_path / "evidence", start_worker)


@dataclass(frozen=True)
class Web:
    url: str


@pytest.fixture
def web(environ, processes, tmp_path: Path) -> Web:
    """A real web server on the test database."""
    port = fleet.free_port()
    url = f"http://127.0.0.1:{port}"
    log = tmp_path / "web.log"
    process = processes.start("web", *fleet.web(port, environ), log=log)

    def answers() -> bool:
        try:
            urllib.request.urlopen(f"{url}/accounts/login/", timeout=5).close()
        except OSError:
            return not process.alive
        return True

    wait_until(answers, "the web server answers")
    assert process.alive, log.read_text()
    return Web(url)


@pytest.fixture
def thing() -> Thing:
    return ThingFactory()


@pytest.fixture(scope="session")
def chromium() -> Iterator[tuple[Browser, AbstractEventLoop]]:
    """One for all tests, and its driver's event loop, which runs in this thread: nobody else is to see that it does."""
    if (program := find_chromium()) is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium-headless-shell")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        loop = get_running_loop()
        _set_running_loop(None)
        yield browser, loop
        _set_running_loop(loop)
        browser.close()


@pytest.fixture
def browser(chromium, monkeypatch) -> Iterator[Browser]:
    # Playwright keeps an event loop in this thread, and Django would refuse us the database.
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    browser, loop = chromium
    _set_running_loop(loop)
    yield browser
    for context in browser.contexts:
        context.close()
    connection.close()  # to Django the event loop is a place of its own, with a connection of its own
    _set_running_loop(None)


@pytest.fixture
def problems() -> Iterator[list[str]]:
    """What no page may meet: an error, a refusal by its policy, a request to somebody else."""
    problems: list[str] = []
    yield problems
    assert problems == []


@pytest.fixture
def context_of(browser, web, problems):
    """`context_of(user, "/ops/", width=360, scheme="dark", scripts=True)`: a browser of somebody who is logged in."""

    def context_of(
        user: User, base: str, width: int = 1280, scheme: str = "light", scripts: bool = True, *, touch: bool = False
    ) -> BrowserContext:
        session = browser_of(user)
        viewport = {"width": width, "height": 900}
        made = browser.new_context(
            base_url=f"{web.url}{base}",
            viewport=viewport,
            color_scheme=scheme,
            java_script_enabled=scripts,
            has_touch=touch,
        )
        made.add_cookies([{"name": "sessionid", "value": session.cookies["sessionid"].value, "url": web.url}])
        made.on("weberror", lambda error: problems.append(str(error.error)))
        made.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        made.on(
            "request", lambda requested: requested.url.startswith((web.url, "data:")) or problems.append(requested.url)
        )
        return made

    return context_of


@pytest.fixture
def context(context_of):
    """`context(width=360, scheme="dark", scripts=True)`: a browser of an operator who may do everything."""
    return partial(context_of, superuser(username="olga"), "/ops/")

"""Chaos and pressure of hardbyte/postgresql-job-queue-benchmarking, without Docker: each lasts for one phase."""

import contextlib
import random
import signal
import threading
import time
from collections.abc import Callable

import psycopg

from embedded.process import Process

Fault = Callable[["Scene", float], None]


class Scene:
    """What a fault may harm: PostgreSQL, and an adapter with its worker, which can be started again."""

    def __init__(self, url: str, postgresql: Process, kill: Callable[[], None], start: Callable[[], None]) -> None:
        self.url, self.postgresql, self.kill, self.start = url, postgresql, kill, start


def crash(scene: Scene, seconds: float) -> None:
    """One replica dies with its worker, and comes back at the end of the phase."""
    scene.kill()
    time.sleep(seconds)
    scene.start()


def kills(scene: Scene, seconds: float) -> None:
    """A replica dies every 12 seconds, and is started again at once."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        scene.kill()
        scene.start()
        time.sleep(max(0.0, min(12.0, end - time.monotonic())))


def restart(scene: Scene, seconds: float) -> None:
    """PostgreSQL stops fast, and its supervisor starts it again."""
    scene.postgresql.signal_group(signal.SIGINT)
    time.sleep(seconds)


def sessions(scene: Scene, seconds: float) -> None:
    """Two random sessions of PostgreSQL are ended each second."""
    end = time.monotonic() + seconds
    with psycopg.connect(scene.url, autocommit=True) as server:
        while time.monotonic() < end:
            pids = server.execute(
                "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            ).fetchall()
            for (pid,) in random.sample(pids, min(2, len(pids))):
                server.execute("SELECT pg_terminate_backend(%s)", [pid])
            time.sleep(1)


def connections(scene: Scene, seconds: float) -> None:
    """As many idle connections are held as the server allows but ten."""
    with contextlib.ExitStack() as held:
        first = held.enter_context(psycopg.connect(scene.url))
        [[max_connections]] = first.execute(
            "SELECT setting::int FROM pg_settings WHERE name = 'max_connections'"
        ).fetchall()
        [[used]] = first.execute("SELECT count(*) FROM pg_stat_activity").fetchall()
        for _ in range(max(0, max_connections - used - 10)):
            held.enter_context(psycopg.connect(scene.url))
        time.sleep(seconds)


def readers(scene: Scene, seconds: float) -> None:
    """Four sessions read the table of jobs again and again."""
    over = threading.Event()

    def read() -> None:
        with psycopg.connect(scene.url, autocommit=True) as server:
            while not over.is_set():
                server.execute("SELECT count(*), max(id) FROM jobs")

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    over.set()
    for thread in threads:
        thread.join()


def idle(scene: Scene, seconds: float) -> None:
    """A transaction with a snapshot is left open."""
    with psycopg.connect(scene.url) as server:
        server.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        server.execute("SELECT count(*) FROM jobs")
        time.sleep(seconds)


FAULTS: dict[str, Fault] = {
    fault.__name__: fault for fault in (crash, kills, restart, sessions, connections, readers, idle)
}

"""The deaths: each kind strikes one victim. Which, and when, comes from the seed."""

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import psutil
import psycopg
import redis
from django.db import connection

from tests.chaos.world import World

RECOVERY = 12.0  # seconds between two deaths of the same engine: a supervisor restarts what dies often ever more slowly
LONGEST_LOCK = 30.0  # seconds


class Deaths:
    """Strikes until stopped, about every `pause` seconds. `struck` counts by kind."""

    def __init__(self, world: World, chance: random.Random, pause: float) -> None:
        self.struck: Counter[str] = Counter()
        self._world = world
        self._chance = chance
        self._pause = pause
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="deaths", daemon=True)
        self._engine_died: dict[str, float] = {}
        self._kinds: dict[str, tuple[int, Callable[[], bool]]] = {
            "process killed": (4, self._kill_process),
            "worker killed": (2, self._kill_worker),
            "worker stopped and continued": (2, self._stop_worker),
            "broker flushed": (2, self._flush),
            "broker killed": (1, lambda: self._end_engine("valkey", signal.SIGKILL)),
            "database restarted (immediate)": (1, lambda: self._end_engine("postgresql", signal.SIGQUIT)),
            "connections cut": (2, self._cut_connections),
            "broker and cache frozen": (1, self._freeze),
            "rows locked": (1, self._lock_rows),
            "worker drained": (1, self._drain),
        }

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """No more."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        names = list(self._kinds)
        weights = [weight for weight, _ in self._kinds.values()]
        due = list(names)  # every kind once, then as the dice fall
        self._chance.shuffle(due)
        while not self._stop.wait(self._chance.uniform(0.5, 1.5) * self._pause):
            kind = due.pop() if due else self._chance.choices(names, weights)[0]
            with suppress(psutil.NoSuchProcess, ProcessLookupError, psycopg.Error, redis.RedisError):
                if self._kinds[kind][1]():  # not struck: the victim was dead already
                    self.struck[kind] += 1

    def _worker(self) -> int:
        return self._chance.choice(self._world.workers).pid

    def _kill_process(self) -> bool:
        children = psutil.Process(self._worker()).children()
        if not children:
            return False
        os.kill(self._chance.choice(children).pid, signal.SIGKILL)
        return True

    def _kill_worker(self) -> bool:
        os.kill(self._worker(), signal.SIGKILL)
        return True

    def _stop_worker(self) -> bool:
        """Stand still with all its processes, sometimes for longer than a worker may be silent."""
        worker = self._worker()
        os.killpg(worker, signal.SIGSTOP)
        self._stop.wait(self._chance.uniform(0.3, 4))
        os.killpg(worker, signal.SIGCONT)
        return True

    def _flush(self) -> bool:
        with self._world.valkey() as client:
            client.flushall()
        return True

    def _end_engine(self, name: str, number: signal.Signals) -> bool:
        engine = self._world.engine(name)
        if not engine.alive or time.monotonic() - self._engine_died.get(name, 0) < RECOVERY:
            return False
        self._engine_died[name] = time.monotonic()
        os.kill(engine.pid, number)
        return True

    def _freeze(self) -> bool:
        """It accepts, and answers nothing."""
        engine = self._world.engine("valkey")
        os.kill(engine.pid, signal.SIGSTOP)
        self._stop.wait(self._chance.uniform(0.5, 5))
        os.kill(engine.pid, signal.SIGCONT)
        return True

    def _lock_rows(self) -> bool:
        """Somebody keeps a transaction open on whatever is unfinished now; deaths go on meanwhile."""
        own = psycopg.connect(**connection.get_connection_params())
        own.execute("SELECT FROM jobs WHERE end_time IS NULL LIMIT 20 FOR UPDATE SKIP LOCKED")
        timer = threading.Timer(self._chance.uniform(2, LONGEST_LOCK), own.close)
        timer.daemon = True
        timer.start()
        return True

    def _drain(self) -> bool:
        """A deploy: it ends what it has begun, and a new one takes its place."""
        os.kill(self._worker(), signal.SIGTERM)
        return True

    def _cut_connections(self) -> bool:
        with psycopg.connect(**connection.get_connection_params(), autocommit=True) as own:
            own.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
        return True

"""The deaths: each kind strikes one victim. Which, and when, comes from the seed."""

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext, suppress

import psutil
import psycopg
import redis
from django.db import connection

from tests.chaos.cuts import Cuts
from tests.chaos.world import World

RECOVERY = 12.0  # seconds between two deaths of the same engine: a supervisor restarts what dies often ever more slowly
LONGEST_LOCK = 30.0  # seconds
FIRST = ("database", "host", "packets", "path")  # kinds
LONGEST_ROUND = 60.0  # seconds beyond those that were asked for


MARGIN = 5.0  # seconds: a process that has started an attempt looks its object up, and waits for PostgreSQL, first


class Deaths:
    """Strikes until stopped, about every `pause` seconds.

    struck: how often, by kind. lag: seconds that the standby is behind when it is promoted; 0: it is synchronous.
    lost: the moments, from and to, whose commits it may have lacked. killed: the workers of which a process was killed.
    faults: of the deaths' own.
    """

    def __init__(self, world: World, chance: random.Random, pause: float, lag: float = 0) -> None:
        self.struck: Counter[str] = Counter()
        self.lost: list[tuple[float, float]] = []
        self.killed: set[int] = set()
        self.faults: list[str] = []
        self._lag = lag
        self._world = world
        self._chance = chance
        self._pause = pause
        self._stop = threading.Event()
        self._round_over = threading.Event()  # of the kinds that come first
        self._thread = threading.Thread(target=self._run, name="deaths", daemon=True)
        self._engine_died: dict[str, float] = {}
        kinds: dict[str, tuple[int, Callable[[], bool]]] = {
            "process killed": (4, self._kill_process),
            "worker killed": (2, self._kill_worker),
            "worker stopped and continued": (2, self._stop_worker),
            "broker flushed": (2, self._flush),
            "broker killed": (1, lambda: self._end_engine("valkey", signal.SIGKILL)),
            "database restarted (immediate)": (1, lambda: self._end_engine("postgresql", signal.SIGQUIT)),
            "database failed over": (1, self._fail_over),
            "database read-only": (1, self._make_read_only),
            "database frozen": (1, self._freeze_database),
            "connections cut": (2, self._cut_connections),
            "broker and cache frozen": (1, self._freeze),
            "rows locked": (1, self._lock_rows),
            "worker drained": (1, self._drain),
            "worker stopped, with all its processes": (2, lambda: self._tell(signal.SIGTERM, everybody=True)),
            "worker stopped in haste": (1, lambda: self._tell(signal.SIGQUIT)),
            "worker stopped in haste, with all its processes": (1, lambda: self._tell(signal.SIGQUIT, everybody=True)),
            "worker interrupted twice": (1, self._interrupt_twice),
            **Cuts(world, chance).kinds(),
        }
        if world.lives:
            kinds = {name: kind for name, kind in kinds.items() if not name.startswith("database")}
        self._kinds = kinds

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """No more, once each kind that comes first has struck: beside a load that takes longer."""
        self._round_over.wait(LONGEST_ROUND)
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        names = list(self._kinds)
        weights = [weight for weight, _ in self._kinds.values()]
        due = list(names)  # every kind once, then as the dice fall
        self._chance.shuffle(due)
        due.sort(key=lambda name: name.startswith(FIRST))  # these come first, since a test runs for seconds only
        while not self._stop.wait(self._chance.uniform(0.5, 1.5) * self._pause):
            kind = due.pop() if due else self._chance.choices(names, weights)[0]
            with suppress(psutil.NoSuchProcess, ProcessLookupError, psycopg.Error, redis.RedisError):
                try:
                    if self._kinds[kind][1]():  # not struck: the victim was dead already
                        self.struck[kind] += 1
                except AssertionError as error:  # then the run would prove less than it says
                    self.faults.append(f"{kind}: {error}")
                    break
            if not self.struck[kind]:
                due.insert(len(due) // 2, kind)  # later
            if not any(name.startswith(FIRST) for name in due):
                self._round_over.set()
        self._round_over.set()

    def _worker(self) -> int:
        return self._chance.choice(self._world.workers).pid

    def _kill_process(self) -> bool:
        worker = self._worker()
        children = psutil.Process(worker).children()
        if not children:
            return False
        self.killed.add(worker)
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

    def _fail_over(self) -> bool:
        """The primary is gone, the standby takes its place, and gets a standby of its own."""
        pair = self._world.pair
        pair.wait_for_standby()
        begin = time.time() - MARGIN
        with pair.lagging() if self._lag else nullcontext():
            self._stop.wait(self._lag)
            pair.primary.kill()
        self._stop.wait(self._chance.uniform(0, 2))
        pair.promote()
        if self._lag:
            self.lost.append((begin, time.time() + MARGIN))
        self._stop.wait(self._chance.uniform(0, 2))
        pair.build_standby()
        return True

    def _make_read_only(self) -> bool:
        """As it is on a standby that is yet to be promoted."""
        primary = self._world.pair.primary
        primary.set("default_transaction_read_only", "on")
        self._stop.wait(self._chance.uniform(0.5, 4))
        primary.set("default_transaction_read_only", "")
        return True

    def _freeze_database(self) -> bool:
        """It accepts, and answers nothing."""
        with self._world.pair.primary.frozen():
            self._stop.wait(self._chance.uniform(0.5, 5))
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
        session = psycopg.connect(**connection.get_connection_params())
        session.execute("SELECT FROM jobs WHERE end_time IS NULL LIMIT 20 FOR UPDATE SKIP LOCKED")
        timer = threading.Timer(self._chance.uniform(2, LONGEST_LOCK), session.close)
        timer.daemon = True
        timer.start()
        return True

    def _drain(self) -> bool:
        """A deploy: it ends what it has begun, and a new one takes its place."""
        os.kill(self._worker(), signal.SIGTERM)
        return True

    def _tell(self, number: signal.Signals, *, everybody: bool = False) -> bool:
        """A deploy by a platform that signals all processes, or does not wait; of some workers SIGTERM is SIGQUIT."""
        worker = self._worker()
        for process in psutil.Process(worker).children() if everybody else ():
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        os.kill(worker, number)
        return True

    def _interrupt_twice(self) -> bool:
        worker = self._worker()
        os.kill(worker, signal.SIGINT)
        self._stop.wait(self._chance.uniform(0.1, 2))
        os.kill(worker, signal.SIGINT)
        return True

    def _cut_connections(self) -> bool:
        with psycopg.connect(**connection.get_connection_params(), autocommit=True) as session:
            session.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
        return True

"""The auditor of a chaos run: as the one of the concurrency tests, but it outlives the database."""

import threading

import psycopg
from django.db import connection

from tests.concurrency.audit import VIOLATIONS

PAUSE = 0.02  # seconds between two looks


class Auditor:
    """`with Auditor() as auditor: ...`, then look at `violations` and `looks`."""

    def __init__(self) -> None:
        self.violations: list[tuple[str, int, int]] = []
        self.looks = 0
        self._parameters = connection.get_connection_params()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="auditor", daemon=True)

    def __enter__(self) -> "Auditor":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(PAUSE):
            try:
                with psycopg.connect(**self._parameters, autocommit=True) as own:
                    self._look(own)
            except psycopg.OperationalError:  # it is being restarted, or we were cut off
                continue

    def _look(self, own: psycopg.Connection) -> None:
        while not self._stop.wait(PAUSE):
            self.violations += own.execute(VIOLATIONS).fetchall()
            self.looks += 1

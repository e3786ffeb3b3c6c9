"""The auditor of a chaos run: as the one of the concurrency tests, but it outlives the database."""

import psycopg

from tests.concurrency import audit


class Auditor(audit.Auditor):
    pause = 0.02

    def _watch(self) -> None:
        while not self._stop.wait(self.pause):
            try:
                super()._watch()
            except psycopg.OperationalError:  # it is being restarted, or we were cut off
                continue

"""What a queue costs the product's own queries: a session that updates rows of another table in the same database."""

import random
import threading
import time
from typing import Self

import psycopg

from .history import quantile

ROWS, RATE = 100_000, 20.0  # rows; updates a second
TABLE = f"""CREATE TABLE fair_bystander (id int PRIMARY KEY, value int NOT NULL);
INSERT INTO fair_bystander SELECT n, 0 FROM generate_series(1, {ROWS}) n"""  # noqa: S608
UPDATE = "UPDATE fair_bystander SET value = value + 1 WHERE id = %s"


class Bystander:
    """Runs in a thread inside the block; `seconds` has the time of each update."""

    def __init__(self, url: str) -> None:
        self.seconds: list[float] = []
        self._url, self._stopped = url, threading.Event()
        self._thread = threading.Thread(target=self._update, name="bystander", daemon=True)
        with psycopg.connect(url, autocommit=True) as server:
            server.execute(TABLE)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def figures(self) -> dict[str, float | None]:
        return {
            f"bystander_p{percent}_ms": quantile(self.seconds, percent) * 1000 if self.seconds else None
            for percent in (50, 95)
        }

    def _update(self) -> None:
        draw = random.Random(1)  # noqa: S311
        with psycopg.connect(self._url, autocommit=True) as server:
            while not self._stopped.wait(1 / RATE):
                since = time.monotonic()
                server.execute(UPDATE, [draw.randint(1, ROWS)])
                self.seconds.append(time.monotonic() - since)

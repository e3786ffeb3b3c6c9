"""A race with somebody who is faster, from both sides: their transaction is committed, or rolled back."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from tests.waiting import wait_until


@dataclass(frozen=True)
class Race:
    """lost: they commit."""

    lost: bool
    they: psycopg.Connection
    elsewhere: Callable[..., Future]
    blocked: Callable[[], int]

    def begin(self, statement: str, *values: object) -> None:
        """They execute this, and stay in the transaction; a second call does nothing."""
        if self.they.info.transaction_status == TransactionStatus.IDLE:
            self.they.execute("BEGIN")
            self.they.execute(statement, values)

    def run(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Future:
        """Do this until it waits for them; then they end."""
        doing = self.elsewhere(function, *args, **kwargs)
        wait_until(lambda: self.blocked() == 1, "it waits for them")
        self.they.execute("COMMIT" if self.lost else "ROLLBACK")
        return doing

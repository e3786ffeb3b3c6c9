"""An event of a tenant, which a job has waited for."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class ToldEvent:
    """An event that has come.

    payload: the JSON value that came with it.
    told_at: an aware moment, by the clock of PostgreSQL.
    """

    name: str
    payload: Any
    told_at: datetime

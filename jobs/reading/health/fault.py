"""A fault that a rule has found: a sentence, and whom it is about."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Fault:
    """A fault.

    text: a sentence for people.
    subject: the name of the pool, the queue or the job type that it is about, or the slug of the tenant; "": of none.
    pools: the pools that suffer from it. None: any may.
    since: when it began. None: this is not known.
    """

    text: str
    subject: str = ""
    pools: frozenset[str] | None = None
    since: datetime | None = None

"""The memory of a job type, as a running attempt reads and writes it, and as people and the clock delete it.

The attempt does so in the session of its body: what it writes commits, or is rolled back, with the body's own rows.
"""

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from jobs.authoring.exceptions import StaleAttempt
from jobs.calls.refusals import TooLarge
from jobs.models import MAX_BYTES, JobMemory
from jobs.store.rows import rows
from jobs.store.session import session

_text = json.JSONEncoder().encode


@dataclass(frozen=True)
class Remembering:
    """The attempt that remembers, and the process that holds it.

    of_object: in the memory of its object; otherwise in that of its job type.
    """

    id: int
    attempt: int
    worker: uuid.UUID | None
    pid: int | None
    of_object: bool = False

    @property
    def field(self) -> str:
        return "object_memory" if self.of_object else "memory"


def recall(of: Remembering) -> str:
    """The content of the memory as JSON. Raises StaleAttempt, as all these do, if the attempt does not run."""
    return _ask("recall", of) or "{}"


def merge(of: Remembering, values: Mapping[str, Any]) -> None:
    """Set these values, and leave the others. Raises TooLarge."""
    with _bounded(of):
        _ask("merge", of, values=_text(values))


def remove(of: Remembering, keys: Sequence[str]) -> None:
    _ask("remove", of, keys=list(keys))


def increment(of: Remembering, key: str, by: float) -> float | None:
    """Add to a number; return the sum, or None if the value is no number. Raises TooLarge."""
    with _bounded(of):
        total = _ask("increment", of, key=key, by=_text(by))
    return None if total is None else json.loads(total)


def compare_and_set(of: Remembering, key: str, expected: str | None, new: Any) -> bool:
    """Set a value if it is the expected one, as JSON; None expects none. Return whether it was. Raises TooLarge."""
    with _bounded(of):
        return bool(_ask("compare_and_set", of, key=key, expected=expected, new=_text(new)))


def clear(of: Remembering) -> None:
    _ask("clear", of)


def in_transaction() -> bool:
    """Whether what a body writes now may still be rolled back."""
    return not session().get_autocommit()


def forget(
    tenant_id: int, *, source_type: str | None = None, source_method: str | None = None, memory_id: int | None = None
) -> int:
    """Delete the tenant's memories, perhaps only those of a type, a method, or one of them; return their number."""
    narrowed = {"source_type": source_type, "source_method": source_method, "pk": memory_id}
    given = {name: value for name, value in narrowed.items() if value is not None}
    return JobMemory.objects.filter(tenant_id=tenant_id, **given).delete()[0]


def expire_memories(ttl: float, batch: int = 1000, now: datetime | None = None) -> int:
    """Delete at most `batch` memories that were not written for `ttl` seconds; return their number."""
    return len(rows("expire_memories", ttl=ttl, batch=batch, now=now))


def _ask(name: str, of: Remembering, **parameters: Any) -> Any:
    found = rows(name, **vars(of), **parameters)
    if not found:
        raise StaleAttempt(f"attempt {of.attempt} of job {of.id} does not run any more: it has no memory")
    return found[0][0]


@contextmanager
def _bounded(of: Remembering) -> Iterator[None]:
    """Raises TooLarge for the database's refusal. A savepoint keeps the body's transaction usable."""
    try:
        with transaction.atomic() if in_transaction() else nullcontext():
            yield
    except IntegrityError as error:
        if "job_memories_small" not in str(error):
            raise
        told = f"would take more than {MAX_BYTES:,} bytes as JSON; delete keys, or keep large values in your own tables"
        raise TooLarge(of.field, told) from None

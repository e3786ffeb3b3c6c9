"""The memory of a job type, stored in PostgreSQL: a running job reads and writes it, people clear it."""

import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction

from jobs.authoring.exceptions import StaleAttempt
from jobs.authoring.memory import MISSING, Memory
from jobs.calls.arguments import as_json, as_key
from jobs.calls.refusals import InvalidRequest, TooLarge
from jobs.engine.process.ask import ask
from jobs.models import MAX_BYTES, JobMemory
from jobs.store import Seat
from jobs.store.rows import rows
from jobs.store.session import session
from plumbing.bounds import is_number
from tenants import audit
from tenants.models import Tenant


@dataclass(frozen=True)
class Remembering:
    """The attempt that uses a memory, and the seat that holds the attempt.

    of_object: whether it is the memory of its object; otherwise it is that of its job type.
    """

    id: int
    attempt: int
    seat: Seat
    of_object: bool = False

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of each statement that reads or changes the memory."""
        return {"id": self.id, "attempt": self.attempt, "of_object": self.of_object, **self.seat.fence()}


class StoredMemory(Memory):
    """A memory that is read from the database at its first use, and again after each change of its own.

    Each method is one statement in the session of the body: its writes commit, or are rolled back, with the body's own
    rows. A method raises InvalidRequest, naming the key, for a value that is not JSON or not a number. It raises
    TooLarge for a memory that would be too large, and StaleAttempt if the attempt does not run any more.
    """

    def __init__(self, user: Remembering) -> None:
        self._user = user
        self._field = "object_memory" if user.of_object else "memory"
        self._read: str | None = None  # as JSON: each reader gets a copy of its own

    def as_dict(self) -> dict[str, Any]:
        return ask(self._recall)

    def _recall(self) -> dict[str, Any]:
        lasting = not _in_transaction()  # what a transaction reads may be rolled back: it is not kept
        read = (self._read if lasting else None) or self._ask("recall") or "{}"
        if lasting:
            self._read = read
        values: dict[str, Any] = json.loads(read)
        return values

    def merge(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        self._change("merge", values=self._json({**(values or {}), **more}, self._field))

    def delete(self, *keys: str) -> None:
        self._change("remove", keys=[as_key(key, self._field) for key in keys])

    def increment(self, key: str, by: float = 1) -> float:
        if not is_number(by):
            raise InvalidRequest("by", f"must be a number, not {by!r}")
        text = self._change("increment", key=as_key(key, self._field), by=self._json(by, "by"))
        if text is None:
            why = "holds no number, so it cannot be incremented; merge a number, or delete the key, first"
            raise InvalidRequest(f"{self._field}.{key}", why)
        total: float = json.loads(text)
        return total

    def compare_and_set(self, key: str, expected: Any, new: Any) -> bool:
        field = f"{self._field}.{as_key(key, self._field)}"
        known = None if expected is MISSING else self._json(expected, "expected")
        return bool(self._change("compare_and_set", key=key, expected=known, new=self._json(new, field)))

    def clear(self) -> None:
        self._change("clear")

    def _ask(self, name: str, **parameters: Any) -> Any:
        answer = rows(name, **self._user.parameters(), **parameters)
        if not answer:
            user = self._user
            raise StaleAttempt(f"attempt {user.attempt} of job {user.id} does not run any more: it has no memory")
        return answer[0][0]

    def _change(self, name: str, **parameters: Any) -> Any:
        """Change the memory by a statement. Raises TooLarge if the database refuses the size.

        A savepoint keeps the body's transaction usable.
        """
        self._read = None
        try:
            return ask(partial(self._change_here, name, **parameters))
        except IntegrityError as error:
            if "job_memories_small" not in str(error):
                raise
            remedy = "delete keys, or keep large values in your own tables"
            raise TooLarge(self._field, f"would take more than {MAX_BYTES:,} bytes as JSON; {remedy}") from None

    def _change_here(self, name: str, **parameters: Any) -> Any:
        with transaction.atomic() if _in_transaction() else nullcontext():
            return self._ask(name, **parameters)

    @staticmethod
    def _json(value: Any, field: str) -> str:
        return json.dumps(as_json(value, field))


def _in_transaction() -> bool:
    """Return whether a write of the body may still be rolled back."""
    return not session().get_autocommit()


@transaction.atomic
def clear(memory: JobMemory) -> bool:
    """Delete a memory; return False if it is gone already. Waits for a job that is writing it."""
    cleared, _ = JobMemory.objects.filter(pk=memory.pk).delete()
    if cleared:
        audit.note("cleared", JobMemory, [(memory.pk, str(memory))], tenant_id=memory.tenant_id)
    return cleared > 0


@transaction.atomic
def clear_all(tenant: Tenant, source_type: str | None = None, source_method: str | None = None) -> int:
    """Delete the tenant's memories, or only those of a type or of one of its methods; return their number."""
    which = {"source_type": source_type, "source_method": source_method}
    narrowed = {name: value for name, value in which.items() if value is not None}
    count, _ = JobMemory.objects.filter(tenant=tenant, **narrowed).delete()
    if count:
        name = " ".join([f"{tenant.jobs_slug}:", *filter(None, (source_type, source_method))])
        audit.note("cleared", JobMemory, [(tenant.jobs_slug, name)], {"memories": [count, 0]}, tenant_id=tenant.pk)
    return count

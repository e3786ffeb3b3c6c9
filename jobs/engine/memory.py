"""What a job type remembers, stored in PostgreSQL: a running job reads and writes it, people clear it."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db import transaction

from jobs import store
from jobs.authoring.memory import MISSING, Memory
from jobs.calls.arguments import as_json, check_text
from jobs.calls.refusals import InvalidRequest
from jobs.models import JobMemory
from jobs.store import Remembering, memory
from tenants import audit
from tenants.models import Tenant


class StoredMemory(Memory):
    """Reads the database at its first use, and again after each change of its own. Each method is one statement.

    A method raises InvalidRequest, naming the key, for a value that is not JSON or not a number, or TooLarge; and
    StaleAttempt if another attempt has taken the place of this one.
    """

    def __init__(self, of: Remembering) -> None:
        self._of = of
        self._read: str | None = None  # as JSON: each reader gets a copy of its own

    def of_object(self) -> "StoredMemory":
        return StoredMemory(replace(self._of, of_object=True))

    def as_dict(self) -> dict[str, Any]:
        if memory.in_transaction():  # what is read here may be rolled back: it is not kept
            return self._parsed(memory.recall(self._of))
        if self._read is None:
            self._read = memory.recall(self._of)
        return self._parsed(self._read)

    def merge(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        checked = as_json({**(values or {}), **more}, self._of.field)
        self._read = None
        memory.merge(self._of, checked)

    def delete(self, *keys: str) -> None:
        checked = [self._key(key) for key in keys]
        self._read = None
        memory.remove(self._of, checked)

    def increment(self, key: str, by: float = 1) -> float:
        if isinstance(by, bool) or not isinstance(by, (int, float)):
            raise InvalidRequest("by", f"must be a number, not {by!r}")
        self._read = None
        total = memory.increment(self._of, self._key(key), as_json(by, "by"))
        if total is None:
            told = "holds no number, so it cannot be incremented; merge a number, or delete the key, first"
            raise InvalidRequest(f"{self._of.field}.{key}", told)
        return total

    def compare_and_set(self, key: str, expected: Any, new: Any) -> bool:
        field = f"{self._of.field}.{self._key(key)}"
        known = None if expected is MISSING else json.dumps(as_json(expected, "expected"))
        checked = as_json(new, field)
        self._read = None
        return memory.compare_and_set(self._of, key, known, checked)

    def clear(self) -> None:
        self._read = None
        memory.clear(self._of)

    @staticmethod
    def _parsed(read: str) -> dict[str, Any]:
        values: dict[str, Any] = json.loads(read)
        return values

    def _key(self, key: Any) -> str:
        if not isinstance(key, str):
            raise InvalidRequest(self._of.field, f"has the key {key!r}; keys must be text")
        return check_text(key, self._of.field)


@transaction.atomic
def clear(memory: JobMemory) -> bool:
    """Delete a memory; False if it is gone already. This waits for a job that is just writing it."""
    cleared = store.forget(memory.tenant_id, memory_id=memory.pk) > 0
    if cleared:
        audit.note("cleared", JobMemory, [(memory.pk, str(memory))], tenant_id=memory.tenant_id)
    return cleared


@transaction.atomic
def clear_all(tenant: Tenant, source_type: str | None = None, source_method: str | None = None) -> int:
    """Delete the tenant's memories, perhaps only those of a type or of one of its methods; return their number."""
    count = store.forget(tenant.pk, source_type=source_type, source_method=source_method)
    if count:
        of = " ".join([f"{tenant.jobs_slug}:", *filter(None, (source_type, source_method))])
        audit.note("cleared", JobMemory, [(tenant.jobs_slug, of)], {"memories": [count, 0]}, tenant_id=tenant.pk)
    return count

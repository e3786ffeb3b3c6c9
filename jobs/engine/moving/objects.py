"""Find what the jobs and schedules of a tenant need where it comes to: their code, and its own objects."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from jobs.calls import registry, sources
from jobs.calls.refusals import InvalidRequest
from jobs.calls.registry import Target

A_QUERY = 1000  # objects


class NeededObjects:
    """The job types that a tenant's jobs name, each with its objects."""

    def __init__(self, tenant_id: int) -> None:
        self.tenant_id = tenant_id
        self._objects: defaultdict[tuple[str, str], set[str]] = defaultdict(set)

    def add(self, row: Mapping[str, Any]) -> None:
        """Note the call of a row of `jobs` or `schedules`."""
        objects = self._objects[row["source_type"], row["source_method"]]
        if row["source_id"] is not None:
            objects.add(row["source_id"])

    def refused(self, *, missing: bool) -> list[str]:
        """Return what is not here, in words.

        missing: whether objects may be missing; code may not.
        """
        refused: list[str] = []
        for (source_type, source_method), ids in sorted(self._objects.items()):
            try:
                target = registry.resolve(source_type, source_method, of_a_job=True)
            except InvalidRequest:
                refused.append(f"{source_type}.{source_method} is unknown to the code here")
                continue
            if not missing:
                refused += [f"{source_type} {source_id} is missing here" for source_id in self._missing(target, ids)]
        return refused

    def _missing(self, target: Target, ids: set[str]) -> list[str]:
        """Return the objects that the tenant does not have: another tenant's object of the same number is no help."""
        if target.model is None:
            return []
        missing: list[str] = []
        in_order = sorted(ids)
        for start in range(0, len(ids), A_QUERY):
            some = in_order[start : start + A_QUERY]
            find = sources.find_all((target.model, source_id, self.tenant_id) for source_id in some)
            missing += [source_id for source_id in some if find(target, source_id, self.tenant_id) is None]
        return missing

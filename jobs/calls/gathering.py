"""Calls that are gathered in one job: those of one submit are put together."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from jobs.authoring.decorator import CALLS, GATHER
from jobs.calls import registry
from jobs.calls.arguments import size_of
from jobs.calls.refusals import InvalidRequest
from jobs.calls.request import JobRequest
from jobs.conf import settings


def is_gathered(source_type: str, source_method: str) -> bool:
    """Return whether jobs of this type gather calls, as far as this process knows the type."""
    try:
        return registry.resolve(source_type, source_method).spec.identical == GATHER
    except InvalidRequest:
        return False


@dataclass
class _Part:
    """Calls that become one job, or join one that waits.

    indexes: the numbers of their requests.
    count, size: their number, and a bound of their bytes as JSON.
    """

    indexes: list[int]
    count: int
    size: int


@dataclass
class GatheredRequests:
    """The requests of one submit, with the gathered calls among them put together.

    requests: the first ones of each identity are full, so they are identical to none. Only the last may join a job.
    places: by the number of a request as it was given, the number of that with its calls.
    firsts: by the number of one of these, the number of its first call as it was given.
    """

    given: Sequence[JobRequest]
    requests: list[JobRequest] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.places = [0] * len(self.given)
        open_parts: dict[object, _Part] = {}
        for index, request in enumerate(self.given):
            if request.identical != GATHER or request.dedup_key is None:
                self._add(request, [index])
                continue
            count, size = len(request.args[CALLS]), size_of(request.args, request.args_text)
            part = open_parts.get(request.identity)
            if part is not None and not self._has_room(part, count, size):
                self._close(part, full=True)
                part = None
            if part is None:
                part = open_parts[request.identity] = _Part([], 0, 0)
            part.indexes.append(index)
            part.count += count
            part.size += size
        for part in open_parts.values():
            self._close(part, full=part.count == self.given[part.indexes[0]].most_calls)

    def _has_room(self, part: _Part, count: int, size: int) -> bool:
        most = self.given[part.indexes[0]].most_calls or 0
        return part.count + count <= most and part.size + size <= settings.JOBS_ARGS_MAX_BYTES

    def _close(self, part: _Part, *, full: bool) -> None:
        first = self.given[part.indexes[0]]
        if len(part.indexes) == 1 and not full:
            self._add(first, part.indexes)
            return
        own = [self.given[index] for index in part.indexes]
        calls = [call for request in own for call in request.args[CALLS]]
        whole = replace(
            first,
            args={**first.args, CALLS: calls},
            priority=min(request.priority for request in own),
            delay=None if full else first.delay,
            dedup_key=None if full else first.dedup_key,
        )
        self._add(whole, part.indexes)

    def _add(self, request: JobRequest, indexes: list[int]) -> None:
        for index in indexes:
            self.places[index] = len(self.requests)
        self.requests.append(request)
        self.firsts.append(indexes[0])

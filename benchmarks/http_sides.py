"""The two sides of the HTTP rows: our endpoints, and the bare ones at the same addresses."""

import hashlib
import itertools
from dataclasses import dataclass

from benchmarks.clients import Ask

ROWS = 100  # that are looked at
PREFIX, SECRET = "0123456789ab", "s" * 43  # of the bare key, as long as ours


@dataclass(frozen=True)
class Side:
    """settings: of its web process; token: the key of its clients; asks: the requests by verb."""

    name: str
    settings: str
    token: str
    asks: dict[str, Ask]


def ours() -> Side:
    """A tenant whose backlog grows with each POST."""
    from benchmarks.contenders.ours import Ours
    from tenants import auth

    contender = Ours()
    contender.prepare(tenants=1)
    contender.fill(ROWS)
    _, token = auth.issue(contender.tenants[0], "bench")
    number = itertools.count(ROWS)
    call = {"source_type": "workload.thing", "source_id": str(contender.things[0].pk), "source_method": "echo"}
    post = lambda _: ("POST", "/api/v1/jobs", {**call, "args": {"n": next(number)}})  # noqa: E731
    return Side("ours", "benchmarks.settings", token, {"POST": post, "GET": _read(_ids_of_jobs())})


def bare() -> Side:
    """A key, and rows about as large as the call of a job."""
    from benchmarks.bare.models import Key, Row

    key = Key.objects.create(prefix=PREFIX, digest=hashlib.sha256(SECRET.encode()).hexdigest())
    content = {"source_type": "workload.thing", "source_id": "1", "source_method": "echo", "args": {"n": 1}}
    rows = Row.objects.bulk_create(Row(key=key, content=content) for _ in range(ROWS))
    post = lambda _: ("POST", "/api/v1/jobs", {"content": content})  # noqa: E731
    get = _read([row.pk for row in rows])
    return Side("bare", "benchmarks.bare.settings", f"{PREFIX}.{SECRET}", {"POST": post, "GET": get})


def _read(ids: list[int]) -> Ask:
    return lambda n: ("GET", f"/api/v1/jobs/{ids[n % len(ids)]}", None)


def _ids_of_jobs() -> list[int]:
    from jobs.models import Job

    return list(Job.objects.values_list("pk", flat=True))

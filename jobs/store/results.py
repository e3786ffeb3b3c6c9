"""Results: JSON in the cache that JOBS_CACHE names, for a while. As text, every backend and serializer takes it.

The key names one execution: the tenant, the job, the attempt, and the moment at which it started. So a stale holder
overwrites nothing. If PostgreSQL loses a job by a failover or a restore, another job may get its number, of the same or
another tenant. That job does not find the result of the lost one.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from asgiref.sync import sync_to_async
from django.core.cache import BaseCache, caches
from django.db.models.functions import Now

from jobs import telemetry
from jobs.conf import settings
from jobs.models import AnyJob, JobRow
from jobs.store.erasing import WithResult
from jobs.store.rows import Started

Executed = Started | JobRow | WithResult  # an attempt that has begun: as its holder has it, or as its row says
# Other classes may do more, such as the one that keeps its entries in a table.
APART = frozenset(
    {
        "django.core.cache.backends.redis.RedisCache",
        "django.core.cache.backends.memcached.PyMemcacheCache",
        "django.core.cache.backends.memcached.PyLibMCCache",
        "django_redis.cache.RedisCache",
        "django_valkey.cache.ValkeyCache",
    }
)
PLAIN = frozenset({str, int, float, bool, type(None)})
MIN_COUNTED_BYTES = 64 * 1024  # bytes; smaller results are not counted, since counting costs more than they do


class ResultRefused(ValueError):
    """The return value cannot be kept: it is not JSON, or too large."""


class CacheAway(Exception):
    """The cache is out of reach, so a result in it cannot be removed."""


@dataclass(frozen=True)
class Result:
    """A kept result; its value may be None."""

    value: Any


def is_table(result: Result | None) -> bool:
    """Return whether a result has the form of a query's: {"columns": [...], "rows": [[...], ...]}."""
    value = result and result.value
    if not isinstance(value, dict) or value.keys() != {"columns", "rows"}:
        return False
    lines = [value["columns"], value["rows"]]
    return all(isinstance(line, list) for line in lines) and all(isinstance(row, list) for row in value["rows"])


def _cache() -> BaseCache:
    return caches[settings.JOBS_CACHE]


_EPOCH = datetime.fromtimestamp(0, UTC)


def _key(job: Executed) -> str:
    started = job.start_time and (job.start_time - _EPOCH) // timedelta(microseconds=1)
    return f"job-result:{job.tenant_id}:{job.id}:{job.attempt}:{started}"


def as_text(value: Any) -> str | None:
    """Return the value as JSON; None for None. Raises ResultRefused, or what a lazy value in it raises."""
    if value is None:
        return None
    try:
        text = json.dumps(value, allow_nan=False)
        _check_keys(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise ResultRefused(f"the result is not JSON: {error}") from None
    size, limit = len(text), settings.JOBS_RESULT_MAX_BYTES  # the JSON is ASCII: one character is one byte
    if size > limit:
        raise ResultRefused(f"the result takes {size:,} bytes; JOBS_RESULT_MAX_BYTES allows {limit:,}: return less")
    return text


def _check_keys(value: Any) -> None:
    """Raise TypeError for a key that is not text. `json` would turn it into text, and 1 and "1" into the same key."""
    left = [value]
    while left:
        part: Any = left.pop()
        if isinstance(part, dict):
            for key in part:
                if not isinstance(key, str):
                    raise TypeError(f"it has the key {key!r}; keys must be text")
            part = list(part.values())
        if isinstance(part, list | tuple):
            left += [inner for inner in part if type(inner) not in PLAIN]


def is_apart() -> bool:
    """Return whether the cache surely uses none of Django's database sessions."""
    kind = type(_cache())
    return f"{kind.__module__}.{kind.__qualname__}" in APART


def keep(job: Executed, text: str | None, ttl: float, notice: Callable[..., None] = telemetry.noticed) -> int | None:
    """Keep the text of a result for `ttl` seconds; return its bytes in the cache, 0 for the result None.

    Return None if the cache is out of reach, or if the tenant's results exceed its budget. The job succeeds anyway.

    notice: logs why it was not kept.
    """
    if text is None:
        return 0
    size = len(text)
    try:
        if size >= MIN_COUNTED_BYTES and not _has_room(job.tenant_id, size, ttl):
            notice("result over budget", job=job.id, tenant=job.tenant_id)
            return None
        _cache().set(_key(job), text, timeout=ttl)
    except Exception as error:  # any error of the cache's library
        notice("result not kept", job=job.id, error=type(error).__name__)
        return None
    return size


def _has_room(tenant_id: int, size: int, ttl: float) -> bool:
    """Count these bytes per period of `ttl` seconds; return whether the tenant's budget has room for them.

    So a tenant's results take at most two budgets.
    """
    counter = f"result-bytes:{tenant_id}:{ttl:g}:{int(time.time() // ttl) if ttl else 0}"
    _cache().add(counter, 0, timeout=ttl + 60)
    kept: int = _cache().incr(counter, size)
    return bool(kept <= settings.JOBS_RESULTS_MAX_BYTES)


def forget(job: Executed) -> bool:
    """Remove a result; return whether there was one. Raises CacheAway."""
    try:
        return bool(_cache().delete(_key(job)))
    except Exception as error:  # any error of the cache's library
        raise CacheAway(f"the cache is out of reach: {type(error).__name__}") from error


def load(job: JobRow) -> Result | None:
    """Load the job's result; None if it was never kept, has expired, or the cache is out of reach."""
    if job.result_expires_at is None:
        return None
    if job.result_bytes == 0:  # None, which is not in the cache
        return Result(None)
    try:
        text = _cache().get(_key(job))
        return None if text is None else Result(json.loads(text))
    except Exception as error:  # any error of the cache's library, or a foreign value under the key
        telemetry.noticed("result not read", job=job.pk, error=type(error).__name__)
        return None


def carried(tenant_id: int) -> Iterator[str]:
    """Return the results of the tenant that are still kept, each as JSON, to be kept elsewhere by `take_over`."""
    kept = AnyJob.objects.filter(tenant_id=tenant_id, result_expires_at__gt=Now(), result_bytes__gt=0)
    for job in kept.only("tenant_id", "attempt", "start_time", "result_bytes", "result_expires_at").iterator():
        if (result := load(job)) is not None:
            facts = {"id": job.pk, "attempt": job.attempt, "result": result.value}
            moments = {"start_time": job.start_time, "until": job.result_expires_at}
            yield json.dumps(facts | {name: moment.isoformat() for name, moment in moments.items() if moment})


def take_over(row: Mapping[str, Any], tenant_id: int, now: datetime) -> None:
    """Keep a result that `carried` gave elsewhere, as long as it would have been kept there."""
    executed = WithResult(row["id"], row["attempt"], tenant_id, datetime.fromisoformat(row["start_time"]))
    left = (datetime.fromisoformat(row["until"]) - now).total_seconds()
    if left > 0:
        keep(executed, json.dumps(row["result"]), left)


async def aload(job: JobRow) -> Result | None:
    """Load the job's result, as `load`, for async callers."""
    return await sync_to_async(load)(job)

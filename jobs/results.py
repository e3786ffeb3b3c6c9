"""Results: JSON in Django's cache, for a while. The key holds the attempt, so a stale holder overwrites nothing."""

import json
import time
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache
from django.utils import timezone

from jobs import telemetry
from jobs.conf import settings
from jobs.models import JobRow

COUNTED = 64 * 1024  # bytes; smaller results are not counted, since counting costs more than they do


class ResultRefused(ValueError):
    """The return value cannot be kept: it is not JSON, or too large."""


@dataclass(frozen=True)
class Result:
    """A kept result; its value may be None."""

    value: Any


def _key(job_id: int, attempt: int) -> str:
    return f"job-result:{job_id}:{attempt}"


def as_text(value: Any) -> str | None:
    """Return the value as JSON; None for None. Raises ResultRefused, or what a lazy value in it raises."""
    if value is None:
        return None
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ResultRefused(f"the result is not JSON: {error}") from None
    size, limit = len(text), settings.JOBS_RESULT_MAX_BYTES  # the JSON is ASCII: one character is one byte
    if size > limit:
        raise ResultRefused(f"the result takes {size:,} bytes; JOBS_RESULT_MAX_BYTES allows {limit:,}: return less")
    return text


def keep(job_id: int, attempt: int, text: str | None, ttl: float, tenant_id: int | None = None) -> int | None:
    """Keep the text of a result for `ttl` seconds; return its bytes in the cache, 0 for the result None.

    Return None if the cache is out of reach, or if the tenant's results exceed its budget. The job succeeds anyway.
    """
    if text is None:
        return 0
    size = len(text)
    try:
        if tenant_id is not None and size >= COUNTED and not _has_room(tenant_id, size, ttl):
            telemetry.noticed("result over budget", job=job_id, tenant=tenant_id)
            return None
        cache.set(_key(job_id, attempt), text, timeout=ttl)
    except Exception as error:  # any error of the cache's library
        telemetry.noticed("result not kept", job=job_id, error=type(error).__name__)
        return None
    return size


def _has_room(tenant_id: int, size: int, ttl: float) -> bool:
    """Count these bytes per period of `ttl` seconds; so a tenant's results take at most two budgets."""
    counter = f"result-bytes:{tenant_id}:{ttl:g}:{int(time.time() // ttl) if ttl else 0}"
    cache.add(counter, 0, timeout=ttl + 60)
    kept: int = cache.incr(counter, size)
    return bool(kept <= settings.JOBS_RESULTS_MAX_BYTES)


def forget(job_id: int, attempt: int) -> bool:
    """Remove a result. Raises the error of the cache's library."""
    return bool(cache.delete(_key(job_id, attempt)))


def load(job: JobRow) -> Result | None:
    """Load the job's result; None if it was never kept, has expired, or the cache is out of reach."""
    if job.result_expires_at is None:
        return None
    if job.result_bytes == 0:
        return Result(None) if job.result_expires_at > timezone.now() else None
    try:
        text = cache.get(_key(job.pk, job.attempt))
        return None if text is None else Result(json.loads(text))
    except Exception as error:  # any error of the cache's library, or a foreign value under the key
        telemetry.noticed("result not read", job=job.pk, error=type(error).__name__)
        return None

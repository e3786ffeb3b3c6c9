"""Submit a job for a tenant, as operators name it: with the checks of the API, and an entry in the audit log."""

import json
from typing import Any

from django.db import transaction

from jobs.calls.compose import compose_by_name
from jobs.calls.refusals import InvalidRequest
from jobs.console.operations.named import tenant_named
from jobs.engine.audit import note_job
from jobs.engine.submit import Submitted, submit
from jobs.reading.masked import DOTS


def submit_named(tenant: str, **call: Any) -> Submitted:
    """tenant: its slug. call: as `compose_by_name` takes it. Raises InvalidRequest, TooManyWaiting and Undecided."""
    request = compose_by_name(tenant_named(tenant), **call)
    with transaction.atomic():
        submitted = submit(request)
        if not submitted.deduplicated:
            note_job("submitted", submitted.id, request.tenant_id)
    return submitted


def told(submitted: Submitted) -> str:
    """What came of it."""
    there = "An identical job is already under way: job" if submitted.deduplicated else "Submitted job"
    return f"{there} {submitted.id}."


def arguments(text: str) -> dict[str, Any]:
    """The arguments by name that somebody typed; none if nothing. Raises InvalidRequest."""
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise InvalidRequest("args", f'must be a JSON object like {{"region": "EU"}}: {error}') from None
    if not isinstance(found, dict):
        raise InvalidRequest("args", 'must be a JSON object like {"region": "EU"}')
    if _has_dots(found):
        raise InvalidRequest("args", f"{DOTS} stands for a value that nobody is shown: type that value again")
    return found


def _has_dots(value: Any) -> bool:
    match value:
        case dict():
            return any(map(_has_dots, value.values()))
        case list():
            return any(map(_has_dots, value))
    return bool(value == DOTS)

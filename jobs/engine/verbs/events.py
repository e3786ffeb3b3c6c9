"""Tell an event: `events.tell(tenant, "approved:42")` lets the jobs go on that wait for it."""

import json
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Model

from jobs import store
from jobs.authoring.exceptions import MOST_OF_NAME, is_event_name
from jobs.calls.arguments import as_json, size_of
from jobs.calls.refusals import InvalidRequest, TooLarge
from jobs.engine.door import dispatch
from jobs.models import JobEvent
from tenants import audit

MAX_BYTES = 16 * 1024  # of a payload, as JSON


def tell(tenant: Model, name: str, payload: Any = None, *, kept_until: datetime | None = None) -> bool:
    """Tell an event of a tenant: its jobs that wait for it go on, when the caller's transaction commits.

    It is kept for JOBS_EVENT_TTL seconds for jobs that come to wait for it later.

    name: text of 1 to 200 characters.
    payload: JSON of at most 16 KiB. The next attempt has it in `current_job().event.payload`.
    kept_until: it is kept at least until then.
    Return False if an event of this name is kept already: then nothing changes, and the first payload stays.
    Raises InvalidRequest for another name or payload.
    """
    if not is_event_name(name):
        raise InvalidRequest("name", f"must be text of 1 to {MOST_OF_NAME} characters, not {name!r}")
    text = checked(payload)
    with transaction.atomic():  # with its entry in the audit log
        event_id = store.tell(tenant.pk, name, text, kept_until=kept_until)
        if event_id is None:
            return False
        audit.note_one("told", JobEvent, event_id, name, tenant_id=tenant.pk)
        dispatch.on_commit()
    return True


def checked(payload: Any) -> str:
    """Return a payload as JSON. Raises InvalidRequest for what is not JSON, and TooLarge."""
    value = as_json(payload, "payload")
    text = json.dumps(value)
    size = size_of(value, text)
    if size > MAX_BYTES:
        raise TooLarge("payload", f"takes {size:,} bytes as JSON; at most {MAX_BYTES:,} bytes are allowed")
    return text

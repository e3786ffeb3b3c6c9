"""Tell an event: `events.tell(tenant, "approved:42")` lets the jobs go on that wait for it.

`events.link` signs an address at which a person or a partner tells it.
"""

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from django.core import signing
from django.db import transaction
from django.db.models import Model
from django.urls import reverse

from jobs import store
from jobs.authoring.exceptions import MOST_OF_NAME, is_event_name
from jobs.calls.arguments import as_json, check_text, size_of
from jobs.calls.refusals import InvalidRequest, TenantMoves, TooLarge
from jobs.conf import settings
from jobs.engine.door import dispatch
from jobs.models import JobEvent
from plumbing.bounds import MAX_SECONDS, is_number
from tenants import audit
from tenants.models import Moving, Tenant, TenantMove, TenantQueue
from tenants.moving import address_of, in_words
from tenants.tenant_model import all_tenants, slugs_of, tenant_of_slug

MAX_BYTES = 16 * 1024  # of a payload, as JSON
MAX_BYTES_IN_LINK = 1024  # browsers and mail programs cut long addresses
MOST_OF_BUTTON = 40  # characters
SALT = "jobs.events.link"


def tell(tenant: Model, name: str, payload: Any = None, *, by_tenant: bool = False) -> bool:
    """Tell an event of a tenant: its jobs that wait for it go on, when the caller's transaction commits.

    It is kept for JOBS_EVENT_TTL seconds for jobs that come to wait for it later.

    name: text of 1 to 200 characters.
    payload: JSON of at most 16 KiB. The next attempt has it in `current_job().event.payload`.
    by_tenant: whether it comes over HTTP: then JOBS_MAX_EVENTS bounds the events that are kept.
    Return False if an event of this name is kept already: then nothing changes, and the first payload stays.
    Raises InvalidRequest for another name or payload, and if too many are kept; TenantMoves if the tenant has left.
    """
    most = settings.JOBS_MAX_EVENTS
    if by_tenant and JobEvent.objects.filter(tenant_id=tenant.pk)[:most].count() >= most:
        raise InvalidRequest("name", f"is one too many: {most:,} events of yours are kept; each stays for a day")
    return _tell(tenant.pk, checked_name(name), checked(payload, MAX_BYTES))


def _tell(tenant_id: int, name: str, payload: str, kept_until: datetime | None = None) -> bool:
    with transaction.atomic():  # with its entry in the audit log
        event_id = store.tell(tenant_id, name, payload, kept_until=kept_until)
        if event_id is None:
            if moving := TenantQueue.objects.filter(tenant=tenant_id).exclude(moving__in=("", Moving.CLOSING)).first():
                raise TenantMoves(in_words(moving.moving, address_of(tenant_id)))
            return False
        audit.note_one("told", JobEvent, event_id, name, tenant_id=tenant_id)
        dispatch.on_commit()
    return True


def checked_name(name: str) -> str:
    """Return the name of an event. Raises InvalidRequest."""
    if not is_event_name(name):
        raise InvalidRequest("name", f"must be text of 1 to {MOST_OF_NAME} characters, not {name!r}")
    return name


def checked(payload: Any, most: int) -> str:
    """Return a payload as JSON of at most so many bytes. Raises InvalidRequest for what is not JSON, and TooLarge."""
    value = as_json(payload, "payload")
    text = json.dumps(value)
    size = size_of(value, text)
    if size > most:
        raise TooLarge("payload", f"takes {size:,} bytes as JSON; at most {most:,} bytes are allowed")
    return text


@dataclass(frozen=True)
class Link:
    """The content of a signed link.

    payload: the JSON value that it tells; None: that of its caller.
    button: the label of the button on its page.
    until: the moment when it ends, in seconds since 1970.
    slug: of the tenant, whose number another installation has given to another tenant. "": an older release signed it.
    """

    tenant_id: int
    name: str
    payload: Any
    button: str
    until: int
    slug: str = ""

    @property
    def has_ended(self) -> bool:
        return store.database_now().timestamp() >= self.until


def link(tenant: Model, name: str, *, seconds: float, payload: Any = None, button: str = "Confirm") -> str:
    """Return the path of a page, without a login, where a person tells this event by a button. It works once.

    A partner's program posts to it instead. Put the address of your site before the path.

    seconds: how long it works: those of `WaitFor`.
    payload: JSON of at most 1 KiB, that the event gets; None: a program may send one.
    button: the label of the button, at most 40 characters. Two links with the same name and other payloads, such as
        "Approve" and "Refuse", are a choice: the first one counts.
    Raises InvalidRequest for what is not possible, and NoReverseMatch without `jobs.portal.members.urls`.
    """
    checked_name(name)
    checked(payload, MAX_BYTES_IN_LINK)
    if not is_number(seconds, 0, MAX_SECONDS) or not seconds:
        raise InvalidRequest("seconds", f"must be a number, more than 0 and at most {MAX_SECONDS:.0f}, not {seconds!r}")
    if not isinstance(button, str) or not 0 < len(button) <= MOST_OF_BUTTON:
        raise InvalidRequest("button", f"must be text of 1 to {MOST_OF_BUTTON} characters, not {button!r}")
    signed = [
        tenant.pk,
        name,
        as_json(payload, "payload"),
        check_text(button, "button"),
        int(store.database_now().timestamp() + seconds) + 1,
        slugs_of([tenant.pk]).get(tenant.pk, ""),
    ]
    return reverse("jobs_members:event", args=[signing.dumps(signed, salt=SALT, compress=True)])


def link_of(token: str) -> Link | None:
    """Return the content of a signed link, also of one that has ended; None if this site has not signed it."""
    try:
        return Link(*signing.loads(token, salt=SALT))
    except signing.BadSignature:
        return None


def of_its_tenant(opened: Link) -> tuple[Link, Tenant] | None:
    """Return the link with its tenant here; None if there is none. The tenant may have come with its open links."""
    tenant = all_tenants().filter(pk=opened.tenant_id).first()
    if tenant is None or opened.slug not in ("", tenant.jobs_slug):
        tenant = tenant_of_slug(opened.slug)
        if tenant is None or not TenantMove.objects.filter(tenant=tenant, address="").exists():
            return None
    return replace(opened, tenant_id=tenant.pk), tenant


def tell_by(opened: Link, payload: Any = None) -> bool:
    """Tell the event of a link, which has not ended; return False if an event of this name is kept already.

    The event is kept as long as the link works, so no link tells one twice.

    payload: JSON of the caller, unless the link has a payload.
    Raises InvalidRequest for another payload.
    """
    own = opened.payload if opened.payload is not None else payload
    kept_until = datetime.fromtimestamp(opened.until, UTC)
    return _tell(opened.tenant_id, opened.name, checked(own, MAX_BYTES), kept_until)

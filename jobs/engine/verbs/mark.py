"""Mark this moment in the charts of the operators, such as the deploy of a release."""

from jobs.calls.refusals import InvalidRequest
from plumbing.text import storable
from tenants import audit
from tenants.models import Change

LONGEST = 100  # characters: it stands in a line below a chart


def mark(text: str) -> list[Change]:
    """Note a mark in the audit log, if there is an actor; return its entry. Raises InvalidRequest.

    text: what happened, such as "release 4.2"
    """
    text = " ".join(storable(text).split())
    if not 0 < len(text) <= LONGEST:
        raise InvalidRequest("text", f'must have 1 to {LONGEST} characters, such as "release 4.2"')
    return audit.note("marked", Change, [("", text)], tenant_id=None)

"""Answer an action with a way back (303), so that a reload repeats nothing; and a missing object with 404."""

from typing import TypeVar

from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme

from plumbing.text import count_of_jobs

T = TypeVar("T")


class SeeOther(HttpResponseRedirect):
    status_code = 303


def cancelled(jobs: int, *, goes_on: bool) -> str:
    """Return the message about the cancel of a batch so far.

    goes_on: whether it has not reached all jobs yet.
    """
    told = f"Cancelled {count_of_jobs(jobs)}, or asked them to stop."
    return f"{told} It goes on with the others: the page shows how far it is." if goes_on else told


def existing(found: T | None, otherwise: str = "") -> T:
    """Return what was found. Raises Http404 with the text `otherwise` if it is None."""
    if found is None:
        raise Http404(otherwise)
    return found


def back(request: HttpRequest, home: str) -> str:
    """Return the address in the field `next`, if it is one of the pages below `home`; else `home`."""
    address = request.POST.get("next", "")
    ours = address.startswith(home) and url_has_allowed_host_and_scheme(address, allowed_hosts=None)
    return address if ours else home

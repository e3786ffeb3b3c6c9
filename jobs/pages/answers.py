"""The answer to an action: a way back (303), so that a reload repeats nothing; and to an address of what is gone."""

from typing import TypeVar

from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme

from jobs.authoring.text import count_of_jobs

T = TypeVar("T")


class SeeOther(HttpResponseRedirect):
    status_code = 303


def cancelled(jobs: int, *, goes_on: bool) -> str:
    """What the cancel of a batch has done so far."""
    told = f"Cancelled {count_of_jobs(jobs)}, or asked them to stop."
    return f"{told} It goes on with the others: the page shows how far it is." if goes_on else told


def existing(found: T | None, otherwise: str = "") -> T:
    """What was found; otherwise there is no such page (404), which says this."""
    if found is None:
        raise Http404(otherwise)
    return found


def back(request: HttpRequest, home: str) -> str:
    """The address in the field `next`, if it is one of the pages below `home`; else `home`."""
    address = request.POST.get("next", "")
    ours = address.startswith(home) and url_has_allowed_host_and_scheme(address, allowed_hosts=None)
    return address if ours else home

"""The answer to an action: a message, and a way back (303), so that a reload repeats nothing."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from jobs.dashboard import snapshot


class SeeOther(HttpResponseRedirect):
    status_code = 303


def done(request: HttpRequest, said: str) -> SeeOther:
    """Back to the page that asked; the next look sees the change."""
    messages.success(request, said)
    snapshot.forget()
    return SeeOther(back(request))


def refused(request: HttpRequest, why: str) -> SeeOther:
    """Back to the page that asked, with the reason."""
    messages.error(request, why)
    return SeeOther(back(request))


def back(request: HttpRequest, home: str | None = None) -> str:
    """The address in the field `next`, if it is one of these pages; else `home`, where they begin."""
    address, home = request.POST.get("next", ""), home or reverse("ops:overview")
    ours = address.startswith(home) and url_has_allowed_host_and_scheme(address, allowed_hosts=None)
    return address if ours else home

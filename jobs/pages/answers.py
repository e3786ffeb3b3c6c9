"""The answer to an action: a way back (303), so that a reload repeats nothing."""

from django.http import HttpRequest, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme


class SeeOther(HttpResponseRedirect):
    status_code = 303


def back(request: HttpRequest, home: str) -> str:
    """The address in the field `next`, if it is one of the pages below `home`; else `home`."""
    address = request.POST.get("next", "")
    ours = address.startswith(home) and url_has_allowed_host_and_scheme(address, allowed_hosts=None)
    return address if ours else home

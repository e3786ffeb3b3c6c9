"""Slow down repeated wrong passwords, at a login and where users change their own: guessing one must take years.

Failures are counted in three ways: by name and address together (so a mistyped password locks out no other user), by
address (one machine tries many names), and by name (many machines try one). The last limit is the highest, so that a
stranger cannot easily lock a user out.
"""

import logging
import math
from collections.abc import Callable
from typing import Any
from unicodedata import normalize

from django.contrib.auth.signals import user_login_failed
from django.dispatch import receiver
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.debug import sensitive_post_parameters

from plumbing.addresses import address, in_admin
from plumbing.rendering import rendered
from plumbing.throttle import Throttle
from tenants.conf import login_failures

REFILL = 1 / 60  # tries per second after the burst
PATHS = ("/login/", "/password/", "/password_change/")  # the ends of the paths of pages with a password
LONGEST_NAME = 150  # characters; the form refuses a longer name without checking the password
WIDER = {"both": 1, "address": 5, "name": 20}  # factors of LOGIN_FAILURES

logger = logging.getLogger("jobs.logins")
failures = Throttle()


def throttled(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Return a middleware that answers 429 during the wait, without a check of the password.

    It belongs after AuthenticationMiddleware.
    """

    @sensitive_post_parameters()  # as on the views: an error before them would be reported without their mark
    def with_password(request: HttpRequest) -> HttpResponseBase:
        if request.path in (address("login"), in_admin("login")):
            name = request.POST.get("username", "")
        elif request.path in (address("password_change"), in_admin("password_change")):
            name = request.user.get_username()
        else:
            return get_response(request)
        wait = max(failures.wait(key, REFILL, burst) for key, burst in _buckets(request, name))
        if not wait:
            response = get_response(request)
            if _has_refused_the_old_one(response):
                note({"username": name}, request)
            return response
        seconds = math.ceil(wait)
        html = rendered(request, "tenants/429.html", {"wait": seconds})
        return HttpResponse(html, status=429, headers={"Retry-After": str(seconds)})

    def throttled_view(request: HttpRequest) -> HttpResponseBase:
        if request.method != "POST" or not request.path.endswith(PATHS):  # a quick test: most requests have no password
            return get_response(request)
        return with_password(request)

    return throttled_view


def _has_refused_the_old_one(response: HttpResponseBase) -> bool:
    """Return whether the form refused the old password. Django sends no signal for that."""
    form = (getattr(response, "context_data", None) or {}).get("form")
    return isinstance(form, BaseForm) and form.has_error("old_password", "password_incorrect")


@receiver(user_login_failed)
def note(credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    if request is None:
        return
    name = str(credentials.get("username", ""))
    logger.warning("login failed user=%r address=%s", name[:100], request.META.get("REMOTE_ADDR"))
    for key, burst in _buckets(request, name):
        failures.take(key, REFILL, burst)


def _buckets(request: HttpRequest, name: str) -> list[tuple[tuple[str, ...], int]]:
    # Normalise the name as the form does: it may have spaces around it, or full-width letters. Cut it before that,
    # since Python takes hours for the normal form of a million accents.
    machine = request.META.get("REMOTE_ADDR", "")
    name = normalize("NFKC", name.strip()[:LONGEST_NAME]).strip().lower()
    keys = {"both": (machine, name), "address": (machine,), "name": ("", name)}
    return [((kind, *key), WIDER[kind] * login_failures()) for kind, key in keys.items()]

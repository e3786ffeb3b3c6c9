"""The searches of jobs that a user keeps, in a signed cookie of the browser.

A cookie, since it outlives the sessions of operators, which end after some hours, and needs no table. It is signed for
its user: another user of the same browser does not get these searches.
"""

from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from jobs.console.ops.shared.search_language import words

COOKIE = "kept-searches"
MOST = 12
MAX_SIZE = 3800  # bytes: a browser keeps a cookie of 4 KiB
LIFETIME = 365 * 86_400  # seconds


def kept(request: HttpRequest) -> list[str]:
    """Return the user's searches, the latest first."""
    try:
        found: list[str] = signing.loads(request.COOKIES.get(COOKIE, ""), salt=_salt(request))
    except signing.BadSignature:
        return []
    return found


def keep(request: HttpRequest, response: HttpResponse, searches: list[str]) -> None:
    """Keep these searches: the first ones, as many as a cookie holds."""
    searches = searches[:MOST]
    while len(signed := signing.dumps(searches, salt=_salt(request), compress=True)) > MAX_SIZE:
        searches = searches[:-1]
    pages = reverse("jobs_ops:overview")
    secure = request.is_secure()
    response.set_cookie(COOKIE, signed, LIFETIME, path=pages, secure=secure, httponly=True, samesite="Lax")


def as_kept(typed: str) -> str:
    """Return a search as it is kept: its words with one space between them."""
    return " ".join(words(typed))


def _salt(request: HttpRequest) -> str:
    return f"{COOKIE} of {request.user.pk}"

"""Addresses of pages that a project may not have: the admin's pages, the logout; and the redirect to its login."""

from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import HttpRequest, HttpResponseRedirect
from django.shortcuts import resolve_url
from django.urls import NoReverseMatch, get_script_prefix, get_urlconf, reverse
from django.utils.http import url_has_allowed_host_and_scheme

from plumbing.names import OURS, named


def address(view: str, *args: object) -> str:
    """Return the path of a view; "" if this project has none of that name."""
    return _path(view, args, get_script_prefix(), get_urlconf() or settings.ROOT_URLCONF)


@lru_cache(4096)  # a page has dozens of links, for each of which Django would match all patterns
def _path(view: str, args: tuple[object, ...], prefix: str, urlconf: str) -> str:
    try:
        return reverse(view, args=args)
    except NoReverseMatch:
        return ""


def in_admin(page: str, *args: object) -> str:
    """Return the path of a page of the admin, such as "index" or "jobs_queue_add"; "" if there is no such page.

    An AdminSite other than Django's default one counts, too, if the project has registered our models with it.
    """
    ours = page.partition("_")[0] in OURS
    return address(f"admin:{named(page) if ours else page}", *args)


def home_of_operator(user: Any) -> str:
    """Return where an operator lands: the live pages, if the user may see jobs; else the admin; "" without either."""
    pages = address("jobs_ops:overview") if user.has_perm(named("jobs.view_job")) else ""
    return pages or in_admin("index")


def logout() -> str:
    """Return the address to which the button "Log out" posts; "": show no button."""
    return address("logout") or in_admin("logout")


def to_login(request: HttpRequest) -> HttpResponseRedirect:
    """Redirect to the login, and after it to the requested page. After a POST, which is not done: to its `next`."""
    page = request.get_full_path()
    if request.method == "POST":
        messages.warning(request, "You had been logged out: nothing was changed.")
        requested = request.POST.get("next", "")
        page = requested if url_has_allowed_host_and_scheme(requested, allowed_hosts=None) else page
    login = resolve_url(settings.LOGIN_URL)  # as Django's redirect_to_login, which needs django.contrib.auth installed
    return HttpResponseRedirect(
        f"{login}{'&' if '?' in login else '?'}{urlencode({REDIRECT_FIELD_NAME: page}, safe='/')}"
    )

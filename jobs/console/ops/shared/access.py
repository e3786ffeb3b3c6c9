"""Guard the pages and actions, which need an operator with a permission; and build the menu.

The check is here, and not in a template. A request without a user is led to the login. A user who is no operator, such
as a tenant's member, gets a 404.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any

from django.apps import apps
from django.contrib.auth import get_permission_codename
from django.contrib.auth.context_processors import PermLookupDict, PermWrapper
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_POST, require_safe

from jobs.calls.refusals import InvalidRequest
from jobs.console.ops.shared.answers import refused, sentence
from jobs.console.ops.shared.kept_searches import kept
from jobs.pages import cached
from plumbing import rendering
from plumbing.addresses import address, to_login
from plumbing.names import OURS, named
from tenants.operators import is_operator

View = Callable[..., HttpResponseBase]


def page_for(permission: str) -> Callable[[View], View]:
    """Make a view a page that needs this permission, such as "jobs.view_job"."""
    return lambda view: require_safe(_guarded(view, permission))


def action_for(permission: str) -> Callable[[View], View]:
    """Make a view an action that needs this permission. It answers an InvalidRequest on the page that asked."""

    def guarded(view: View) -> View:
        @wraps(view)
        def act(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            try:
                return view(request, *args, **kwargs)
            except InvalidRequest as error:
                return refused(request, sentence(error))

        return require_POST(_guarded(act, permission))

    return guarded


def _guarded(view: View, permission: str) -> View:
    permission = named(permission)

    @rendering.kept_by_nobody
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return to_login(request)
        if not is_operator(request.user):
            raise Http404
        if not request.user.has_perm(permission):
            return plain_page(request, "shared/refused", "Not allowed", {"permission": permission}, status=403)
        try:
            with cached.noting():
                return view(request, *args, **kwargs)
        except Http404 as missing:
            return plain_page(request, "shared/refused", "Not found", {"missing": str(missing)}, status=404)

    return guarded


@rendering.kept_by_nobody
def no_such_page(request: HttpRequest) -> HttpResponseBase:
    """Answer an address that no page has, in the operators' frame; to others as if there was nothing here."""
    if not request.user.is_authenticated:
        return to_login(request)
    if not is_operator(request.user):
        raise Http404
    missing = "No page has this address. It may have been removed, or the address is wrong."
    return plain_page(request, "shared/refused", "Not found", {"missing": missing}, status=404)


def rights(user: Any) -> tuple[bool, ...]:
    """Return which of the permissions of our models the user has: two users with the same may see the same."""
    return tuple(map(user.has_perm, _permissions()))


@cache
def _permissions() -> list[str]:
    models = [model._meta for app in OURS for model in apps.get_app_config(named(app)).get_models()]
    return [f"{of.app_label}.{get_permission_codename(to, of)}" for of in models for to in of.default_permissions]


class Permissions(PermWrapper):
    """The `perms` of templates. {% if perms.jobs.view_job %} works whatever the name of the app is here."""

    def __getitem__(self, app: str) -> PermLookupDict:
        return super().__getitem__(named(app) if app in OURS else app)


def frame(request: HttpRequest, title: str) -> dict[str, Any]:
    """Return the context that every page needs."""
    around = {"title": title, "perms": Permissions(request.user), "single_keys": SINGLE_KEYS}
    searches = kept(request) if request.user.has_perm(named("jobs.view_job")) else []
    return around | {"theme": theme(request), "next_theme": NEXT_THEME[theme(request)], "kept": searches}


def plain_page(
    request: HttpRequest, name: str, title: str, context: Mapping[str, Any], *, status: int = 200
) -> HttpResponse:
    """Render the page `jobs/ops/<name>.html`, which has no live regions."""
    whole = {**frame(request, title), "menu": menu(request), **context}
    return rendering.page(request, f"jobs/ops/{name}.html", whole, status=status)


SINGLE_KEYS = (  # besides those of the menu; keys.js handles them
    (["Ctrl", "K"], "Find a page, tenant, type or queue"),
    ("/", "Search"),
    ("jk", "Next row, previous row"),
    ("x", "Select the row"),
    (["Enter"], "Open the row"),
    ("l", "Live on and off"),
    ("?", "This help"),
)
THEMES = ("light", "dark")
NEXT_THEME = {"": "dark", "dark": "light", "light": "system"}  # the choice that the button offers


def theme(request: HttpRequest) -> str:
    """Return the theme that the user chose; "" for that of the system."""
    chosen = request.COOKIES.get("theme", "")
    return chosen if chosen in THEMES else ""


PAGES = (  # name, label, key after "g", permission
    ("overview", "Overview", "o", "jobs.view_job"),
    ("tenants", "Tenants", "t", "tenants.view_tenantqueue"),
    ("queues", "Queues", "q", "jobs.view_queue"),
    ("jobs", "Jobs", "j", "jobs.view_job"),
    ("dead", "Dead", "d", "jobs.view_deadletter"),
    ("workers", "Workers", "w", "jobs.view_worker"),
    ("schedules", "Schedules", "s", "jobs.view_schedule"),
    ("webhooks", "Webhooks", "k", "jobs.view_webhookendpoint"),
    ("health", "Health", "h", "jobs.view_worker"),
)
# Pages without an entry, and the page that leads to them.
BENEATH = {
    **dict.fromkeys(("usage", "what-if", "new-tenant"), "tenants"),
    **dict.fromkeys(("batches", "runs", "job-type"), "jobs"),
    "new-queue": "queues",
}


@dataclass(frozen=True)
class Entry:
    """An entry of the menu.

    key: the key that opens it, after "g"
    here: whether its page is open, or one beneath it
    count: a number beside the label that operators should look at; "" for none
    """

    label: str
    key: str
    address: str
    here: bool
    count: str = ""


def menu(request: HttpRequest, counts: Mapping[str, str] | None = None) -> list[Entry]:
    """Return the entries of the pages that the user may open.

    counts: the numbers beside the labels, by the name of the page
    """
    names = (*(page[0] for page in PAGES), *BENEATH)
    addresses = {name: found for name in names if (found := address(f"jobs_ops:{name}"))}
    open_ones = (name for name, found in addresses.items() if request.path.startswith(found))
    here = max(open_ones, key=lambda name: len(addresses[name]), default="")
    if request.resolver_match is not None and request.resolver_match.url_name in BENEATH:
        here = request.resolver_match.url_name
    if here == "overview" and request.path != addresses[here]:  # all addresses begin with that of Overview
        here = ""
    return [
        Entry(label, key, addresses[name], name == BENEATH.get(here, here), (counts or {}).get(name, ""))
        for name, label, key, permission in PAGES
        if request.user.has_perm(named(permission))
    ]

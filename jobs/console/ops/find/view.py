"""Find a page, a tenant, a job type, a queue or a job by a part of its name: the page, and the palette (Ctrl K)."""

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from jobs.calls.refusals import InvalidRequest
from jobs.console.ops.shared import finding, live, search_language
from jobs.console.ops.shared.access import menu, page_for
from jobs.console.ops.shared.kept_searches import kept
from jobs.pages.typed import texts
from plumbing.names import named

SEARCH = "search"


class FoundPlace(NamedTuple):
    """A place to go to.

    kind: the word for it, such as "tenant"
    note: a further name, or ""
    """

    kind: str
    text: str
    note: str
    address: str


@page_for("jobs.view_job")
def show(request: HttpRequest) -> HttpResponseBase:
    """List the places that match `q`. A search of jobs, such as an id or tenant:acme, opens the list of jobs."""
    typed = texts(request.GET, ("q",))["q"]
    if typed and (typed.isdecimal() or not search_language.bare(typed)):
        return redirect(_jobs(typed))
    return _page(request, typed)


@page_for("jobs.view_job")
def offer(request: HttpRequest) -> JsonResponse:
    """Answer with the places that match `q`, for the palette."""
    found = places(request, texts(request.GET, ("q",))["q"])
    return JsonResponse({"offers": [{"text": p.text, "note": p.note or p.kind, "address": p.address} for p in found]})


def places(request: HttpRequest, typed: str) -> list[FoundPlace]:
    """Return the places that match, and that the user may open: first those of which it is the whole name."""
    names = typed.lower()
    found = list(_places(request, typed))
    return sorted(found, key=lambda p: p.kind == SEARCH or names not in (p.text.lower(), p.note.lower()))


def _page(request: HttpRequest, typed: str) -> HttpResponse:
    context = {"q": typed, "places": places(request, typed)}
    return live.page(request, "find", "Find", (), context, every=0)


def _places(request: HttpRequest, typed: str) -> Iterator[FoundPlace]:
    try:
        if (pk := search_language.job_id(typed)) is not None:
            yield FoundPlace("job", f"Job {pk}", "", reverse("jobs_ops:job", args=[pk]))
            return
    except InvalidRequest:  # no job can have that id
        return
    yield from (
        FoundPlace("page", entry.label, "", entry.address)
        for entry in menu(request)
        if entry.label.lower().startswith(typed.lower())
    )
    for search in kept(request):
        if typed.lower() in search.lower():
            yield FoundPlace("kept search", search, "", _jobs(search))
    if typed:
        yield from _named(request, typed)


def _named(request: HttpRequest, typed: str) -> Iterator[FoundPlace]:
    """Yield the tenants, job types and queues with this in their names, and the search that it may be."""
    if request.user.has_perm(named("tenants.view_tenantqueue")):
        for tenant in finding.tenants(typed):
            where = reverse("jobs_ops:tenant", args=[tenant.jobs_slug])
            yield FoundPlace("tenant", tenant.jobs_name, tenant.jobs_slug, where)
    for name in finding.job_types(typed):
        yield FoundPlace("job type", name, "", reverse("jobs_ops:job-type", args=[name]))
    for name in finding.queues(typed):
        yield FoundPlace("queue", name, "", _jobs(f"queue:{name}"))
    if not search_language.bare(typed):
        yield FoundPlace(SEARCH, typed, "jobs that match", _jobs(typed))


def _jobs(search: str) -> str:
    return f"{reverse('jobs_ops:jobs')}?{urlencode({'q': search})}"

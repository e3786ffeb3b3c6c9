"""The page of a signed link: a person without a login tells an event by one button, and a partner's program by a POST.

Programs that look at mails open the links in them. So a GET shows the page, and changes nothing.
"""

import json
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from jobs import store
from jobs.calls.refusals import InvalidRequest, Locked, TenantMoves, TooLarge
from jobs.engine.verbs import events
from plumbing.rendering import kept_by_nobody, page
from plumbing.text import in_one_line
from tenants import audit, moving
from tenants.models import Moving, Tenant

SAID = {  # by status: the heading, and what it means
    201: ("Thank you", "Your answer has been passed on. You can close this page."),
    400: ("This is no answer", "Send JSON, or no body."),
    404: ("No such link", "Its address is not complete. Copy all of it, or open it from the message again."),
    409: ("Answered before", "There is an answer already. The first one counts."),
    410: ("Too late", "This link has ended. Ask those who sent it for a new one."),
    503: ("Try again", "Something else is under way here. Try again in a few seconds."),
}


@csrf_exempt  # the address is the secret: no cookie of a browser gives anybody a right here
@login_not_required
@kept_by_nobody
@require_http_methods(["GET", "HEAD", "POST"])
def tell(request: HttpRequest, token: str) -> HttpResponse:
    link = events.link_of(token)
    if link is None:
        return _answer(request, 404)
    found = None if link.has_ended else events.of_its_tenant(link)
    return _answer(request, 410) if found is None else _tell(request, *found)


def _tell(request: HttpRequest, link: events.Link, tenant: Tenant) -> HttpResponse:
    if moving.state_of(tenant) == Moving.MOVED:  # the site there accepts our signature, if it has our key
        return HttpResponse(status=308, headers={"Location": f"{moving.address_of(tenant.pk)}{request.path}"})
    if request.method != "POST":
        button = in_one_line(link.button)
        shown = {"tenant": tenant, "name": in_one_line(link.name), "title": f"{button}?", "button": button}
        return page(request, "jobs/members/event.html", shown)
    audit.identify("signed link", tenant_id=link.tenant_id)
    try:
        with store.briefly():
            return _answer(request, 201 if events.tell_by(link, _payload(request)) else 409)
    except (Locked, TenantMoves):
        return _answer(request, 503)
    except InvalidRequest as refused:
        return _answer(request, 413 if isinstance(refused, TooLarge) else 400, str(refused))


def _payload(request: HttpRequest) -> Any:
    """Return the JSON that a program has sent; None from a browser. Raises InvalidRequest."""
    if not _is_program(request) or not request.body:
        return None
    try:
        return json.loads(request.body)
    except (ValueError, RecursionError):
        raise InvalidRequest("body", "must be JSON") from None


def _is_program(request: HttpRequest) -> bool:
    return request.content_type == "application/json"


def _answer(request: HttpRequest, status: int, detail: str = "") -> HttpResponse:
    title, meaning = SAID.get(status, SAID[400])
    if _is_program(request):
        return JsonResponse({"status": status, "title": title, "detail": detail or meaning}, status=status)
    return page(
        request, "jobs/members/event.html", {"title": title, "meaning": detail or meaning, "button": ""}, status=status
    )

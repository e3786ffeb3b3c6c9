"""Light, dark, or as the system says: a cookie, so that a page comes in its colours from the start."""

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from jobs.console.ops.access import THEMES
from jobs.console.ops.answers import back
from jobs.pages.answers import SeeOther
from tenants.operators import is_operator

A_YEAR = 365 * 86_400  # seconds


@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    """`theme`: light, dark, or anything else for the system's."""
    if not is_operator(request.user):
        raise Http404
    response, pages = SeeOther(back(request)), reverse("jobs_ops:overview")
    chosen = request.POST.get("theme", "")
    if chosen in THEMES:
        response.set_cookie("theme", chosen, max_age=A_YEAR, httponly=True, samesite="Lax", path=pages)
    else:
        response.delete_cookie("theme", path=pages)
    return response

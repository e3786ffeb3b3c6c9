"""Choose the theme: light, dark, or that of the system. A cookie keeps it, so that a page has its colours at once."""

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from jobs.console.ops.shared.access import THEMES
from jobs.console.ops.shared.answers import back
from jobs.pages.answers import SeeOther
from tenants.operators import is_operator

A_YEAR = 365 * 86_400  # seconds


@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    """Store the theme. `theme`: light or dark; any other value for the theme of the system."""
    if not is_operator(request.user):
        raise Http404
    response, pages = SeeOther(back(request)), reverse("jobs_ops:overview")
    chosen = request.POST.get("theme", "")
    if chosen in THEMES:
        response.set_cookie("theme", chosen, max_age=A_YEAR, httponly=True, samesite="Lax", path=pages)
    else:
        response.delete_cookie("theme", path=pages)
    return response

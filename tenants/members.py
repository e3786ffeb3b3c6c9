"""The tenant of whoever is logged in: what every page of a product asks first."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from tenants.models import Member


def for_members(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Pass the view the tenant of the logged-in member as its second argument.

    Nobody logged in: the login. Staff that belongs to no tenant: the admin. Anybody else: 403, with the reason.
    """

    @login_required
    @wraps(view)
    def with_tenant(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        logged_in = Member.objects.filter(user__username=request.user.get_username())
        member = logged_in.select_related("tenant").first()
        if member is None and request.user.is_staff:
            return redirect("admin:index")
        if member is None:
            return render(request, "tenants/no_tenant.html", status=403)
        return view(request, member.tenant, *args, **kwargs)

    return with_tenant

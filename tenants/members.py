"""The tenant of whoever is logged in: what every page of a product asks first."""

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch

from tenants.models import Member


def for_members(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Pass the view the tenant of the logged-in member as its second argument.

    Nobody logged in: the login. Staff without a tenant: the admin, if there is one. Else: 403, with the reason.
    """

    @login_required
    @wraps(view)
    def with_tenant(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        logged_in = Member.objects.filter(user=request.user.pk)
        member = logged_in.select_related("tenant").first()
        if member is None and request.user.is_staff:
            with suppress(NoReverseMatch):
                return redirect("admin:index")
        if member is None:
            return render(request, "tenants/no_tenant.html", status=403)
        return view(request, member.tenant, *args, **kwargs)

    return with_tenant

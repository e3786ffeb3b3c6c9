"""The tenant of whoever is logged in: what every page of a product asks first."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from tenants.addresses import in_admin
from tenants.models import Member
from tenants.operators import is_operator
from tenants.rendering import page


def for_members(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Pass the view the tenant of the logged-in member as its second argument.

    Nobody logged in: the login. An operator without a tenant: the admin, if there is one. Else: 403, with the reason.
    """

    @login_required
    @wraps(view)
    def with_tenant(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        logged_in = Member.objects.filter(user=request.user.pk)
        member = logged_in.select_related("tenant").first()
        if member is None and is_operator(request.user) and (admin := in_admin("index")):
            return redirect(admin)
        if member is None:
            return page(request, "tenants/no_tenant.html", {}, status=403)
        return view(request, member.tenant, *args, **kwargs)

    return with_tenant

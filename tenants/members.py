"""Find the tenant of the logged-in user, as every page of a product does first."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.module_loading import import_string

from plumbing.addresses import home_of_operator, to_login
from plumbing.rendering import kept_by_nobody, page
from tenants import audit, moving
from tenants.conf import membership
from tenants.mirror import tenant_of
from tenants.models import Member, Moving, Tenant
from tenants.operators import is_operator


def tenant_of_request(request: HttpRequest) -> Tenant | None:
    """Return the tenant whose member makes the request; None if its logged-in user is no member.

    With JOBS_MEMBERSHIP, that function returns a tenant or a mirrored row. It may look at the address or the session,
    since a user may be a member of several tenants. Without that setting, it is the tenant of the user's `Member`.
    """
    if path := membership():
        given = import_string(path)(request)
        return None if given is None else tenant_of(given)
    member = Member.objects.select_related("tenant__jobs_queue").filter(user=request.user.pk).first()
    return None if member is None else member.tenant


def for_members(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Pass the tenant of the logged-in member to the view as its second argument, and name the actor in the audit log.

    An anonymous user is redirected to the login. An operator without a tenant is redirected to the live pages or
    the admin. Any other user without a tenant gets a 403 with the reason. The member of a tenant that has moved gets a
    410 with the address there; one that moves now can look, but change nothing.
    """

    @kept_by_nobody
    @wraps(view)
    def with_tenant(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            return to_login(request)
        tenant = tenant_of_request(request)
        if tenant is None and is_operator(request.user) and (home := home_of_operator(request.user)):
            return redirect(home)
        if tenant is None:
            return page(request, "tenants/no_tenant.html", {}, status=403)
        if (state := moving.state_of(tenant)) and (state == Moving.MOVED or request.method not in ("GET", "HEAD")):
            context = {"tenant": tenant, "moved": state == Moving.MOVED, "address": moving.address_of(tenant.pk)}
            return page(request, "tenants/moved.html", context, status=410 if state == Moving.MOVED else 503)
        audit.identify(request.user.get_username(), tenant_id=tenant.pk)
        return view(request, tenant, *args, **kwargs)

    return with_tenant

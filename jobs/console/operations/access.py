"""Give access to a tenant: a key for a program, or the membership of a user. Commands and pages do it here."""

from datetime import datetime
from shlex import quote
from typing import Any

from django.contrib.auth import get_user_model
from django.utils import timezone

from jobs.calls.refusals import InvalidRequest
from jobs.console.operations.named import tenant_named
from tenants import auth
from tenants.conf import membership
from tenants.models import ApiKey, Member, Tenant

MAX_NAME = 100  # characters


def issue_key(tenant: Tenant, name: str, expires_at: datetime | None) -> tuple[ApiKey, str]:
    """Issue a key; return it with its token, which cannot be read again. Raises InvalidRequest."""
    if expires_at is not None and (expires_at.tzinfo is None or expires_at <= timezone.now()):
        raise InvalidRequest("expires", "must be in the future, with a time zone")
    if not 0 < len(name) <= MAX_NAME:
        raise InvalidRequest("name", f"must have 1 to {MAX_NAME} characters")
    return auth.issue(tenant, name, expires_at)


def add_member(slug: str, login: str) -> Member:
    """Make a user a member of the tenant with this slug, or leave it one. Raises InvalidRequest."""
    if membership():
        raise InvalidRequest("members", "JOBS_MEMBERSHIP decides whose member a user is; this table is not read")
    tenant, user = tenant_named(slug), user_named(login)
    member, _ = Member.objects.get_or_create(user=user, defaults={"tenant": tenant})
    if member.tenant_id != tenant.pk:
        remove = f"manage.py members remove {quote(login)}"
        raise InvalidRequest("user", f"{login} already belongs to {member.tenant.jobs_slug}; first: {remove}")
    return member


def user_named(login: str) -> Any:
    """Return the user who logs in with this. Raises InvalidRequest."""
    users: Any = get_user_model()
    try:
        return users._default_manager.get_by_natural_key(login)
    except users.DoesNotExist:
        message = f"there is no {login!r}; add one in the admin, or: manage.py createsuperuser"
        raise InvalidRequest("user", message) from None

"""Who calls: the browser of somebody who is logged in, or a program with a key of an operator or a tenant."""

from typing import Any

from django.contrib.auth.models import Permission, User
from django.test import Client

from tenants import auth
from tenants.models import Tenant
from tests.factories import UserFactory, operator_key


def superuser(**fields: Any) -> User:
    return UserFactory(is_staff=True, is_superuser=True, **fields)


def staff(*codenames: str, **fields: Any) -> User:
    """Who has these permissions."""
    user = UserFactory(is_staff=True, **fields)
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    assert user.user_permissions.count() >= len(codenames)
    return user


def browser_of(user: User, **options: Any) -> Client:
    """`client.user` is who."""
    client = Client(**options)
    client.force_login(user)
    client.user = user
    return client


def program_of(user: User, **options: Any) -> Client:
    """It has no cookie to be asked for; `client.user` is who."""
    _, token = operator_key(user, "test")
    client = Client(enforce_csrf_checks=True, headers={"Authorization": f"Bearer {token}"}, **options)
    client.user = user
    return client


def caller_with_key(tenant: Tenant) -> Client:
    """A program with one of the tenant's API keys."""
    _, token = auth.issue(tenant, "test")
    return Client(headers={"Authorization": f"Bearer {token}"})

"""Tasks in these tests go to the backend. Without `django.tasks` and `django-tasks` there is nothing to test."""

import importlib.util

import pytest

from tenants.models import Tenant
from tests.factories import QueueFactory, TenantFactory

HAVE = any(importlib.util.find_spec(name) for name in ("django.tasks", "django_tasks"))
collect_ignore_glob = [] if HAVE else ["test_*.py"]


def owner(task, args, kwargs) -> Tenant | None:
    """The tenant of a task outside of jobs."""
    return Tenant.objects.filter(slug="owner").first()


@pytest.fixture
def use(settings):
    """`use(QUEUES=[…], OPTIONS={…})`: another setup of the backend."""

    def use(**params) -> None:
        settings.TASKS = {"default": settings.TASKS["default"] | params}

    return use


@pytest.fixture(autouse=True)
def tenant(db) -> Tenant:
    QueueFactory()
    QueueFactory(name="critical")
    return TenantFactory(slug="owner")

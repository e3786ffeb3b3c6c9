"""Operators with some permissions, and a snapshot that no test inherits from another."""

from collections.abc import Callable, Iterator

import pytest
from django.test import Client

from jobs.console.ops.health import view as health
from jobs.console.ops.job_type import reads as job_type
from jobs.console.ops.job_type import view as page_of_type
from jobs.console.ops.overview import reads as overview
from jobs.console.ops.queues import reads as queues
from jobs.console.ops.shared import history, live, marks, snapshot, taken_back
from jobs.console.ops.tenant import reads as tenant
from jobs.console.ops.tenants import reads as tenants
from jobs.console.ops.workers import reads as workers
from jobs.pages.cached import Cached
from tests.callers import browser_of, staff

MODULES = (
    live,
    history,
    marks,
    snapshot,
    taken_back,
    health,
    job_type,
    page_of_type,
    overview,
    queues,
    tenant,
    tenants,
    workers,
)
KEPT = [value for module in MODULES for value in vars(module).values() if isinstance(value, Cached)]


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each request looks for itself."""
    for kept in (*KEPT, *snapshot.PARTS.values()):
        monkeypatch.setattr(kept, "seconds", 0.0)
        monkeypatch.setattr(kept, "rest", 0.0)
    snapshot.forget()
    yield
    snapshot.forget()


@pytest.fixture
def lasting(fresh: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a request has read stays fresh for the others."""
    for kept in KEPT:
        monkeypatch.setattr(kept, "seconds", 3600.0)
        kept.forget()


@pytest.fixture
def client(admin_client: Client) -> Client:
    """Of an operator who may do everything."""
    return admin_client


@pytest.fixture
def operator(db: None) -> Callable[..., Client]:
    """An operator with these permissions: `operator("view_job", "change_job")`; `client.user` is who."""

    return lambda *codenames: browser_of(staff(*codenames))

"""Operators with some permissions, and a snapshot that no test inherits from another."""

from collections.abc import Callable, Iterator

import pytest
from django.test import Client

from jobs.console.ops import history_charts, live, snapshot
from jobs.console.ops.views import health
from jobs.pages.cached import Cached
from tests.callers import browser_of, staff


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each request looks for itself."""
    named = [value for module in (live, history_charts, snapshot, health) for value in vars(module).values()]
    for kept in (*named, *snapshot.PARTS.values()):
        if isinstance(kept, Cached):
            monkeypatch.setattr(kept, "seconds", 0.0)
            monkeypatch.setattr(kept, "rest", 0.0)
    snapshot.forget()
    yield
    snapshot.forget()


@pytest.fixture
def client(admin_client: Client) -> Client:
    """Of an operator who may do everything."""
    return admin_client


@pytest.fixture
def operator(db: None) -> Callable[..., Client]:
    """An operator with these permissions: `operator("view_job", "change_job")`; `client.user` is who."""

    return lambda *codenames: browser_of(staff(*codenames))

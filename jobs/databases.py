"""Checks of the ways to the database, once the models are loaded."""

from collections.abc import Iterator

from django.apps import apps
from django.core.checks import CheckMessage, Error
from django.db import DEFAULT_DB_ALIAS, router

from jobs.checks import TAG, registered
from jobs.routing import is_ours


@registered(TAG)
def routers() -> Iterator[CheckMessage]:
    """The engine's statements go to one database. A replica is late, and so is what the ORM reads there."""
    ours = [model for model in apps.get_models() if is_ours(model)]
    used = {way(model) for model in ours for way in (router.db_for_read, router.db_for_write)}
    if used != {DEFAULT_DB_ALIAS}:
        yield Error(
            f"DATABASE_ROUTERS send the models of jobs to {', '.join(sorted(used))}.",
            hint='Begin DATABASE_ROUTERS with "jobs.routing.Primary".',
            id="jobs.E020",
        )

"""Name the objects and users of jobs in the words of the product."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from contextlib import suppress
from functools import partial
from typing import Any

from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError

from jobs.calls import functions, owners, registry
from jobs.calls.registry import in_words, source_types
from jobs.calls.sources import in_sight
from jobs.models import JobRow
from tenants.models import Member


def sources(jobs: Iterable[JobRow], tenant_id: int) -> dict[tuple[str, str | None], str]:
    """Return the names of the objects of these jobs, by source type and id. Takes one query for each type.

    A job of a class has the plural name of its model, under the id None. A function has its title, by module and name.
    """
    ids: dict[str, set[str | None]] = defaultdict(set)
    for job in jobs:
        ids[job.source_type].add(job.source_id)
    known = source_types()
    names: dict[tuple[str, str | None], str] = _titles(jobs, known)
    for source_type in ids.keys() & known.keys():
        model = known[source_type]
        names[source_type, None] = f"all {model._meta.verbose_name_plural}"
        wanted = [source_id for source_id in ids[source_type] if source_id is not None]
        if not wanted:
            continue
        with suppress(ValueError, TypeError, OverflowError, ValidationError):  # no id of such an object
            owner = owners.path_of(model)
            own = {f"{owner.lookup}__in": owner.keys([tenant_id]).values()}
            rows = model._default_manager.filter(pk__in=wanted).filter(**own)
            for found in in_sight(partial(list[Any], rows)) or []:
                with suppress(Exception):  # an error of the model's own code; the others keep their names
                    names[source_type, str(found.pk)] = str(found)
    return names


def _titles(jobs: Iterable[JobRow], known: Collection[str]) -> dict[tuple[str, str | None], str]:
    """Return the titles of the functions that jobs call. A function of which no code is found has its name in words."""
    without_object = (job for job in jobs if job.source_id is None)
    called = {(job.source_type, job.source_method) for job in without_object if job.source_type not in known}
    found = functions.known() if called else {}
    return {
        (module, name): registry.target_of(function).title if function is not None else in_words(name)
        for module, name in called
        for function in [found.get((module, name)) or functions.of_an_app(module, name)]
    }


def users(jobs: Iterable[JobRow], tenant_id: int) -> dict[str, str]:
    """Return the names of the members whose jobs these are, by `user_key`. Other keys are the tenant's own users."""
    keys = {job.user_key for job in jobs if job.user_key.isascii() and job.user_key.isdecimal()}
    ids = [int(key) for key in keys if len(key) <= 18]  # noqa: PLR2004 - digits that a bigint holds
    members = Member.objects.filter(tenant=tenant_id, user__in=ids) if ids else Member.objects.none()
    named = members.values_list("user_id", f"user__{get_user_model().USERNAME_FIELD}")
    return {str(user_id): name for user_id, name in named}

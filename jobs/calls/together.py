"""Find the objects of many jobs that begin at once, with one query for each model."""

from collections.abc import Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, Error, models, router

from jobs.calls.owners import path_of
from jobs.calls.queries import MALFORMED, Make, query_of
from jobs.calls.refusals import InvalidRequest
from jobs.calls.registry import Target
from jobs.calls.sources import manager_of

Call = tuple[Target, Any, int]  # a target, the id of an object, and a tenant
KEYS = (models.IntegerField, models.UUIDField)  # whose arrays the server compares as it compares the keys


def makers_of(calls: Sequence[Call]) -> dict[int, Make]:
    """Find the objects of many calls; return who makes the object, by the place of its call.

    What is not found here may still be: `sources.find` tells. It has to be asked where the project's own code takes
    part, such as a manager or a router. A maker belongs to its call alone, and runs in the context of that job.
    """
    by_model: dict[type[models.Model], list[int]] = {}
    for place, (target, _, _) in enumerate(calls):
        if target.model is not None and not target.class_level:
            by_model.setdefault(target.model, []).append(place)
    found: dict[int, Make] = {}
    for model, places in ((model, places) for model, places in by_model.items() if _is_plain(model)):
        makers = _makers(model, [calls[place][1:] for place in places])
        found |= {places[nth]: make for nth, make in makers.items()}
    return found


def _is_plain(model: type[models.Model]) -> bool:
    """Return whether only Django's own code and the database decide which rows of a model are found."""
    try:
        keys = (model._meta.pk, path_of(model).key)
    except InvalidRequest:
        return False
    return not router.routers and type(manager_of(model)) is models.Manager and all(isinstance(k, KEYS) for k in keys)


def _makers(model: type[models.Model], wanted: Sequence[tuple[Any, int]]) -> dict[int, Make]:
    try:
        keys = path_of(model).keys({tenant_id for _, tenant_id in wanted})
        owned = [(source_id, keys.get(tenant_id)) for source_id, tenant_id in wanted]
        return query_of(model, DEFAULT_DB_ALIAS).makers(owned)
    except (*MALFORMED, Error):  # one of them is no id; or the database is away, or has another session for each tenant
        return {}

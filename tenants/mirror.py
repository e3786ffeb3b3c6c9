"""A tenant for each row of a model of the project's own that JOBS_TENANT_MIRROR names.

This is for a model that cannot be the tenant model: its key is no integer, or it belongs to another package. The tenant
keeps the row's key as text (`mirrored_key`), and its name and slug. It is written when the row is saved, and deleted
with the row. For older rows, and rows that SQL has changed, run `manage.py tenants mirror`.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from django.apps import apps
from django.db import models, transaction
from django.db.models import Value
from django.db.models.functions import Cast, Concat
from django.db.models.signals import post_delete, post_save

from plumbing.bounds import NAME_LENGTH
from tenants.conf import HOST_NAME, HOST_SLUG, MIRRORED, model_named
from tenants.models import Tenant, TenantQueue
from tenants.tenant_model import all_tenants, get_tenant_model

A_STATEMENT = 1000  # rows


class NotMirrored(LookupError):
    """The given object is no tenant, and has no tenant."""


def mirrored_model() -> type[models.Model] | None:
    """Return the model that is mirrored; None if JOBS_TENANT_MIRROR is not set."""
    return model_named("JOBS_TENANT_MIRROR", MIRRORED) if MIRRORED else None


def owns_tenants() -> bool:
    """Return whether tenants are rows that operators add here: the project has no tenant model of its own."""
    return not Tenant._meta.swapped and mirrored_model() is None


def watch(model: type[models.Model]) -> None:
    """Mirror the model's rows whenever they are saved or deleted, also by a proxy or a child model."""
    for kind in apps.get_models():
        if issubclass(kind, model):
            post_save.connect(_saved, sender=kind)
            post_delete.connect(_deleted, sender=kind)


def tenant_of(given: Any) -> Tenant:
    """Return the given tenant itself, or the tenant of a mirrored row. Raises NotMirrored."""
    if isinstance(given, model := get_tenant_model()):
        return given
    mirrored = mirrored_model()
    if mirrored is None or not isinstance(given, mirrored):
        raise NotMirrored(f"must be a {(mirrored or model).__name__}, not {given!r}; give the object, not its key")
    tenant = tenant_of_key(given.pk)
    if tenant is None:
        raise NotMirrored(f"{given!r} has no tenant; run: manage.py tenants mirror")
    return tenant


def tenant_of_key(key: Any) -> Tenant | None:
    """Return the tenant with that key; with a mirror, the tenant of the row with that key."""
    tenants = (
        all_tenants().filter(pk=key) if mirrored_model() is None else Tenant.objects.filter(mirrored_key=_text(key))
    )
    return tenants.first()


def ids_of(given: Iterable[Any]) -> set[int]:
    """Return the keys of the given tenants. A mirrored row stands for its tenant; a row without one is left out."""
    rows, model = list(given), get_tenant_model()
    mirrored = ids_by_key(row.pk for row in rows if not isinstance(row, model)) if mirrored_model() else {}
    return {row.pk for row in rows if isinstance(row, model)}.union(mirrored.values())


def ids_by_key(keys: Iterable[Any]) -> dict[Any, int]:
    """Return the keys of the tenants of these mirrored rows, by the keys of the rows. Rows without one are left out."""
    texts = {_text(key): key for key in keys}
    keys = Tenant.objects.filter(mirrored_key__in=texts).values_list("mirrored_key", "pk")
    return {texts[text or ""]: pk for text, pk in keys}


def keys_by_id(tenant_ids: Iterable[int]) -> dict[int, str | None]:
    """Return the keys of the mirrored rows of these tenants, as text, by the keys of the tenants."""
    return dict(Tenant.objects.filter(pk__in=tenant_ids, mirrored_key__isnull=False).values_list("pk", "mirrored_key"))


def reflect(rows: Iterable[models.Model]) -> int:
    """Write the tenants of these rows, with one slot each if they are new; return their number."""
    number, left = 0, iter(rows)
    while some := list(islice(left, A_STATEMENT)):
        made = [Tenant(mirrored_key=_text(row.pk), name=_name(row), slug=str(getattr(row, HOST_SLUG))) for row in some]
        with transaction.atomic():
            _give_up_slugs({tenant.slug: tenant.mirrored_key for tenant in made})
            written = Tenant.objects.bulk_create(
                made, update_conflicts=True, unique_fields=["mirrored_key"], update_fields=["name", "slug"]
            )
            slots = (TenantQueue(tenant=tenant) for tenant in written)
            TenantQueue.objects.bulk_create(slots, ignore_conflicts=True)
        number += len(written)
    return number


def _give_up_slugs(wanted: Mapping[str, str | None]) -> None:
    """Give a stand-in slug to each tenant whose row has lost its slug to another row by SQL.

    The tenant has the stand-in until its own row is written.

    wanted: the keys of the rows that have the slugs now, by slug.
    """
    holders = Tenant.objects.filter(slug__in=wanted, mirrored_key__isnull=False).values_list(
        "pk", "slug", "mirrored_key"
    )
    if lost := [pk for pk, slug, key in holders if wanted[slug] != key]:
        Tenant.objects.filter(pk__in=lost).update(slug=Concat(Value("-"), Cast("pk", models.CharField())))


def _name(row: models.Model) -> str:
    return str(getattr(row, HOST_NAME))[:NAME_LENGTH]


def _text(key: Any) -> str:
    """Return the key as text, in one spelling: a UUID may have been given in another one."""
    model = mirrored_model()
    return str(key if model is None else model._meta.pk.to_python(key))


def _saved(instance: models.Model, raw: bool = False, **_: Any) -> None:
    if not raw:  # a fixture brings the tenants itself
        reflect([instance])


def _deleted(instance: models.Model, **_: Any) -> None:
    Tenant.objects.filter(mirrored_key=_text(instance.pk)).delete()

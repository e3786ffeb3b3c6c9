"""Find the tenant of a job's object, by the path from the object's model to the tenant.

The model's attribute `jobs_tenant` is that path, for example "order__shop" or "pk"; without it the path is "tenant". It
ends at the tenant model, or at the mirrored model.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db import models

from jobs.calls.refusals import InvalidRequest
from tenants import mirror
from tenants.tenant_model import get_tenant_model

WITHOUT_TEXT = {models.CompositePrimaryKey: "several columns", models.BinaryField: "bytes"}  # kinds of keys


@dataclass(frozen=True)
class Path:
    """The path from a model to the tenant.

    names: the names of the references, in their order.
    key: the primary key of the model at the end of the path: of tenants, or of mirrored rows.
    mirrored: the path ends at the mirrored model.
    """

    names: tuple[str, ...]
    key: "models.Field[Any, Any]"
    mirrored: bool

    @property
    def lookup(self) -> str:
        return "__".join((*self.names, "pk"))

    def tenant_id(self, instance: models.Model) -> int | None:
        """Return the id of the object's tenant; None if it has none.

        Each reference before the last that is not loaded takes a query; so does the tenant of a mirrored row.
        """
        *through, last = self.names or ("pk",)
        at: Any = instance
        for name in through:
            at = None if at is None else getattr(at, name)
        key = None if at is None else _key(at, last)
        return mirror.ids_by_key([key]).get(key) if self.mirrored and key is not None else key

    def keys(self, tenant_ids: Iterable[int]) -> Mapping[int, Any]:
        """Return the keys to which the objects of these tenants refer, by tenant."""
        return mirror.keys_by_id(tenant_ids) if self.mirrored else {pk: pk for pk in tenant_ids}


@cache
def path_of(model: type[models.Model]) -> Path:
    """Return the model's path. Raises InvalidRequest if it ends at no tenant, or if no text can name its objects."""
    for kind, what in WITHOUT_TEXT.items():
        if isinstance(model._meta.pk, kind):
            unfit = f"has a key of {what}, which names no object of a job"
            raise InvalidRequest("source_id", f"{model._meta.label} {unfit}: pass it to a method of the class")
    path: str = getattr(model, "jobs_tenant", "tenant")
    names = tuple(name for name in path.split("__") if name != "pk")
    end = model
    for name in names:
        end = _referred(end, name, path)
    mirrored = mirror.mirrored_model()
    if issubclass(end, get_tenant_model()):
        return Path(names, end._meta.pk, mirrored=False)
    if mirrored is not None and issubclass(end, mirrored):
        return Path(names, end._meta.pk, mirrored=True)
    raise InvalidRequest("tenant", f"{model._meta.label}: the path {path!r} ends at {end._meta.label}, no tenant")


def _referred(model: type[models.Model], name: str, path: str) -> type[models.Model]:
    try:
        field = model._meta.get_field(name)
    except FieldDoesNotExist:
        field = None
    if not isinstance(field, models.ForeignKey):
        raise InvalidRequest("tenant", f"the path {path!r} needs a foreign key {name!r} of {model._meta.label}")
    referred: type[models.Model] = field.remote_field.model
    return referred


def _key(instance: models.Model, name: str) -> Any:
    """Return the key of the row to which the object refers, without loading that row if the reference is its key."""
    if name == "pk":
        return instance.pk
    field: Any = instance._meta.get_field(name)
    if field.target_field.primary_key:
        return getattr(instance, field.attname)
    return getattr(getattr(instance, name), "pk", None)

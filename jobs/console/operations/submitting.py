"""Submit a job for a tenant that an operator names: with the checks of the API, and an entry in the audit log."""

from typing import Any

from django.db.models import Model

from jobs.calls import registry, sources
from jobs.calls.compose import compose_by_name
from jobs.calls.owners import path_of
from jobs.calls.queries import MALFORMED
from jobs.calls.refusals import InvalidRequest
from jobs.console.operations.named import tenant_named
from jobs.engine.submitting.submit import Submitted, submit_by_hand
from tenants.tenant_model import slugs_of


def submit_named(tenant: str, **call: Any) -> Submitted:
    """Submit a job. Raises InvalidRequest, TooManyWaiting and Undecided.

    An object of another tenant is refused as such: an operator may know of it.

    tenant: the slug of its tenant
    call: the parameters of `compose_by_name`
    """
    try:
        request = compose_by_name(tenant_named(tenant), **call)
    except InvalidRequest as refused:
        if refused.field == "source_id" and (owner := _owner(call)) not in ("", tenant):
            what = f"{call['source_type']} {call['source_id']}"
            raise InvalidRequest("source_id", f"{what} belongs to tenant {owner}, not to {tenant}") from None
        raise
    return submit_by_hand(request)


def _owner(call: dict[str, Any]) -> str:
    """Return the slug of the tenant that owns the object of a call; "" if there is no such object."""
    model = registry.resolve(call["source_type"], call["source_method"]).model
    if model is None or call["source_id"] is None:
        return ""
    owners = sources.in_sight(lambda: _tenant_ids(model, call["source_id"])) or []
    return next(iter(slugs_of(owners).values()), "")


def _tenant_ids(model: type[Model], source_id: Any) -> list[int | None]:
    try:
        return [path_of(model).tenant_id(row) for row in sources.manager_of(model).filter(pk=source_id)[:1]]
    except MALFORMED:
        return []


def confirmation(submitted: Submitted) -> str:
    opening = "This call is part of a job that was there before: job" if submitted.deduplicated else "Submitted job"
    return f"{opening} {submitted.id}."

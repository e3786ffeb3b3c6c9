"""Store an operator's change, with the checks of the admin."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from django.core.exceptions import ValidationError
from pydantic import Field, StrictBool, StrictFloat, create_model

from jobs.calls.refusals import by_field
from jobs.console.operations.limits import Kind, Limit
from jobs.engine.verbs import limits
from jobs.http.inputs import Body, Integer, Name, left_out
from jobs.http.problems import ProblemError, existing
from jobs.models import Queue
from plumbing.bounds import MAX_SECONDS
from plumbing.text import storable
from tenants.models import Tenant, TenantQueue
from tenants.tenant_model import tenant_of_slug

TYPES: Mapping[Kind, Any] = {  # of a request's fields; the model holds their bounds
    Kind.WHOLE: Integer,
    Kind.SECONDS: Annotated[StrictFloat, Field(le=MAX_SECONDS, allow_inf_nan=False)],
    Kind.SWITCH: StrictBool,
    Kind.NAME: Name,
    Kind.BY_NAME: Annotated[dict[Name, Integer], Field(max_length=100)],
    Kind.NAMES: Annotated[list[Name], Field(max_length=100)],
}


def changes_of(table: Iterable[Limit]) -> type[Body]:
    """The body of a request that changes some of these limits."""
    fields: dict[str, Any] = {}
    for limit in table:
        help = limit.full_help("Null")
        if limit.optional:
            fields[limit.name] = (TYPES[limit.kind] | None, Field(None, description=help))
        else:
            fields[limit.name] = (TYPES[limit.kind], left_out(help))
    return create_model("Changes", __base__=Body, **fields)


def change(row: Queue | TenantQueue, values: Mapping[str, Any]) -> None:
    """Store these values in a row that the caller has locked. Raises a problem that names the invalid fields."""
    if not values:
        return
    try:
        limits.change(row, values)
    except ValidationError as error:
        raise ProblemError.unfit(by_field(error)) from None


def tenant_at(slug: str) -> Tenant:
    """Return the tenant with the slug of an address. Raises a problem if there is none."""
    return existing(tenant_of_slug(storable(slug)), "tenant")

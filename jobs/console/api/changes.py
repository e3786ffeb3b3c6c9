"""Store an operator's change, with the checks of the admin."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.core.exceptions import ValidationError

from jobs.engine import limits
from jobs.models import Queue
from jobs.portal.api import schemas
from jobs.portal.api.problems import ProblemError
from tenants.models import TenantQueue

REFUSED = frozenset({401, 403, 405})
PROBLEMS = {REFUSED | {400, 404, 413, 422}: schemas.Problem}


def change(row: Queue | TenantQueue, values: Mapping[str, Any]) -> None:
    """Store these values in a row that the caller has locked. Raises a problem that names the invalid fields."""
    if not values:
        return
    try:
        limits.change(row, values)
    except ValidationError as error:
        raise ProblemError.unfit({field: " ".join(told) for field, told in error.message_dict.items()}) from None


def no_such(what: str) -> ProblemError:
    return ProblemError(HTTPStatus.NOT_FOUND, f"There is no such {what}.")


def storable(name: str) -> str:
    """A name from an address; "" if PostgreSQL cannot store it, since then nothing has that name."""
    return "" if "\x00" in name else name

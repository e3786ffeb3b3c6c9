"""Pages of lists: as many rows as asked for, and the address of the next page."""

from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.db.models import Model, QuerySet
from ninja import Schema

Row = TypeVar("Row", bound=Model)


def page(
    found: QuerySet[Row], address: str, wanted: Any, position: Callable[[Row], dict[str, Any]]
) -> tuple[list[Row], str | None]:
    """The first `wanted.limit` rows, and the address of the next page; None if this is the last.

    position: the filter that continues after a row.
    """
    rows = list(found[: wanted.limit + 1])  # one more shows that there is another page
    if len(rows) <= wanted.limit:
        return rows, None
    del rows[-1]
    return rows, onward(address, wanted, **position(rows[-1]))


def onward(address: str, wanted: Schema, **position: Any) -> str:
    """The address of a page with the same filters, from another position."""
    return f"{address}?{urlencode(wanted.model_dump(exclude_none=True) | position)}"

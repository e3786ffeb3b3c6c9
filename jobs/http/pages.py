"""Divide lists into pages: the rows of a page, and the address of the next page."""

from typing import Any, TypeVar
from urllib.parse import urlencode

from django.db.models import Model, QuerySet
from pydantic import BaseModel

Row = TypeVar("Row", bound=Model)


def page(matching: QuerySet[Row], address: str, wanted: Any, by: str = "pk") -> tuple[list[Row], str | None]:
    """Return the first `wanted.limit` rows, and the address of the next page; None if this is the last page.

    The rows are ordered by the field `by`. If `wanted` has `before`: the highest first, only rows below `before`. Else
    the lowest first, only rows above `wanted.after`.
    """
    falls = hasattr(wanted, "before")
    edge, beyond = ("before", "lt") if falls else ("after", "gt")
    if (end := getattr(wanted, edge)) is not None:
        matching = matching.filter(**{f"{by}__{beyond}": end})
    # One more row: there is a next page.
    rows = list(matching.order_by(f"-{by}" if falls else by)[: wanted.limit + 1])
    if len(rows) <= wanted.limit:
        return rows, None
    del rows[-1]
    return rows, onward(address, wanted, **{edge: getattr(rows[-1], by)})


def onward(address: str, wanted: BaseModel, **position: Any) -> str | None:
    """Return the address of the page with the same filters at another position; None if the position is None."""
    if None in position.values():
        return None
    return f"{address}?{urlencode(wanted.model_dump(exclude_none=True) | position)}"

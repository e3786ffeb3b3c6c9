"""Pages of lists: as many rows as asked for, and the address of the next page."""

from typing import Any, TypeVar
from urllib.parse import urlencode

from django.db.models import Model, QuerySet
from pydantic import BaseModel

Row = TypeVar("Row", bound=Model)


def page(found: QuerySet[Row], address: str, wanted: Any, by: str = "pk") -> tuple[list[Row], str | None]:
    """The first `wanted.limit` rows, and the address of the next page; None if this is the last.

    By that field: the highest first, below `wanted.before`, if the page is asked for so; else the lowest first, above
    `wanted.after`.
    """
    falls = hasattr(wanted, "before")
    edge, beyond = ("before", "lt") if falls else ("after", "gt")
    if (end := getattr(wanted, edge)) is not None:
        found = found.filter(**{f"{by}__{beyond}": end})
    rows = list(found.order_by(f"-{by}" if falls else by)[: wanted.limit + 1])  # one more shows that there are others
    if len(rows) <= wanted.limit:
        return rows, None
    del rows[-1]
    return rows, onward(address, wanted, **{edge: getattr(rows[-1], by)})


def onward(address: str, wanted: BaseModel, **position: Any) -> str | None:
    """The address of a page with the same filters, from another position; None if that is None: this is the last."""
    if None in position.values():
        return None
    return f"{address}?{urlencode(wanted.model_dump(exclude_none=True) | position)}"

"""Look at the present for the pages, besides `jobs.reading.looking`: bounded statements. Reads only."""

from collections.abc import Collection
from typing import Any, TypeVar

from jobs.reading.looking import Lane, Tenant, look_lanes, look_tenants, looking
from jobs.store.rows import objects, rows

Row = TypeVar("Row")


def tenants(ids: Collection[int]) -> dict[int, Tenant]:
    """Return the tenants with these ids, as far as they exist, by id."""
    with looking():
        return look_tenants(ids)


def lanes_of(tenants: set[int]) -> list[Lane]:
    """Return the lanes of these tenants with jobs in line."""
    with looking():
        return look_lanes(tenants=tenants)


def look(name: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a statement, which gives up after a second."""
    with looking():
        return rows(name, **parameters)


def look_objects(kind: type[Row], name: str, /, **parameters: Any) -> list[Row]:
    """Return the rows of a statement as objects of this class. The statement gives up after a second."""
    with looking():
        return objects(kind, name, **parameters)

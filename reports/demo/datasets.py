"""The demo's real data: three data sets from the local files of the package vega_datasets.

They are read as plain files. The package's own loaders need pandas, which takes a second to import.
"""

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from psycopg import Cursor
from psycopg.sql import SQL, Identifier

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Dataset:
    """A table and the source of its rows."""

    table: str
    columns: str
    rows: Callable[[], Iterator[Row]]

    def load(self, cursor: Cursor[Any]) -> int:
        """Create the table and copy its rows into it, unless it exists. Returns the number of rows copied."""
        cursor.execute("SELECT to_regclass(%s)", [self.table])
        if cursor.fetchone() != (None,):
            return 0
        table = Identifier(self.table)
        cursor.execute(SQL("CREATE TABLE {} (" + self.columns + ")").format(table))
        with cursor.copy(SQL("COPY {} FROM STDIN").format(table)) as copy:
            for row in self.rows():
                copy.write_row(row)
        copied = cursor.rowcount
        cursor.execute(SQL("ANALYZE {}").format(table))
        return copied


def _read(name: str) -> str:
    package = find_spec("vega_datasets")
    if package is None or not package.submodule_search_locations:
        raise FileNotFoundError("The demo's data is in the package vega_datasets: pip install vega_datasets")
    return (Path(package.submodule_search_locations[0]) / "_data" / name).read_text(encoding="utf-8")


def _airports() -> Iterator[Row]:
    for row in csv.DictReader(_read("airports.csv").splitlines()):
        yield tuple(row.values())


def _weather() -> Iterator[Row]:
    for row in csv.DictReader(_read("seattle-weather.csv").splitlines()):
        yield (row.pop("date").replace("/", "-"), *row.values())


def _stocks() -> Iterator[Row]:
    for row in csv.DictReader(_read("stocks.csv").splitlines()):
        yield row["symbol"], _month(row["date"]), row["price"]


def _month(text: str) -> date:
    return datetime.strptime(text, "%b %d %Y").date()  # noqa: DTZ007 - a calendar month has no zone


DATASETS = {
    dataset.table: dataset
    for dataset in (
        Dataset(
            "airports",
            "iata text PRIMARY KEY, name text, city text, state text, country text,"
            " latitude float8 NOT NULL, longitude float8 NOT NULL",
            _airports,
        ),
        Dataset(
            "weather",
            "day date PRIMARY KEY, rain float8, temp_max float8, temp_min float8, wind float8, kind text",
            _weather,
        ),
        Dataset(
            "stocks",
            "symbol text, month date, price numeric(10, 2) NOT NULL, PRIMARY KEY (symbol, month)",
            _stocks,
        ),
    )
}

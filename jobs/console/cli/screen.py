"""The output of a command: tables, facts and sentences, or one JSON document."""

import dataclasses
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from operator import attrgetter
from typing import IO, Any, cast

from django.core.management.base import OutputWrapper
from django.core.serializers.json import DjangoJSONEncoder
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from plumbing.text import duration, in_json, in_one_line, printable

WIDE = 110  # from this width on a table shows its wide columns, too
UNBOUND = 1_000_000
GAP = 2  # spaces between two columns of a table
LEAST = 8  # no column is cut below this width
COLOURS = {
    "queued": "cyan",
    "running": "blue",
    "success": "green",
    "error": "red",
    "dead": "red",
    "cancelled": "yellow",
    "paused": "yellow",
    "held": "yellow",
}


@dataclasses.dataclass(frozen=True)
class Column:
    """A column of a table.

    cell: its value in a row: the name of an attribute or of a key, or a function of the row
    right: align it to the right, for numbers
    wide: show it only on a wide screen
    flexible: it is cut if the table is too wide
    tail: cut it last, and at its beginning, since its values differ at the end
    """

    title: str
    cell: str | Callable[[Any], object]
    right: bool = False
    wide: bool = False
    flexible: bool = False
    tail: bool = False

    def of(self, record: Any) -> object:
        """Return the value of the cell in the row of this object."""
        if callable(self.cell):
            return self.cell(record)
        return record[self.cell] if isinstance(record, Mapping) else attrgetter(self.cell)(record)


class Screen:
    """The output of a command.

    as_json: print only the document that is given to `document`
    """

    def __init__(self, out: OutputWrapper, *, as_json: bool, no_color: bool = False) -> None:
        self.as_json = as_json
        self._out = out
        with suppress(AttributeError):  # a buffer
            out.reconfigure(errors="backslashreplace")  # for a terminal that lacks – or the letters of a name
        self._console = Console(file=cast(IO[str], out), highlight=False, no_color=no_color or None)
        self._is_wide = self._console.width >= WIDE
        if not self._console.is_terminal and "COLUMNS" not in os.environ:
            self._console.width = UNBOUND  # cut nothing, for grep

    def document(self, document: dict[str, Any]) -> None:
        """Print the JSON document of the command, if --json was given."""
        if self.as_json:
            self._out.write(in_json(json.dumps(document, cls=DjangoJSONEncoder, ensure_ascii=False, indent=2)))

    def raw(self, line: str) -> None:
        self._out.write(line)

    def say(self, sentence: str) -> None:
        """Print a line for people."""
        if not self.as_json:
            self._console.print(Text(in_one_line(sentence)), soft_wrap=not self._console.is_terminal)

    def table(self, columns: Iterable[Column], records: Iterable[Any], none: str = "") -> None:
        """Print a table for people, with a row for each object and coloured statuses.

        none: the sentence to print instead, if there are no rows
        """
        if self.as_json:
            return
        columns_shown = [column for column in columns if not column.wide or self._is_wide]
        texts = [[_cell(column.of(record), in_one_line, moment) for column in columns_shown] for record in records]
        if none and not texts:
            self.say(none)
            return
        widths = self._widths(columns_shown, texts)
        # Not a table of rich: before version 15 it cut numbers of a line that is too wide. Here the line wraps.
        for row in [[Text(column.title, "bold dim") for column in columns_shown], *texts]:
            places = zip(row, columns_shown, widths, strict=True)
            line = Text(" " * GAP).join(_fitting(text, column, width) for text, column, width in places)
            line.rstrip()
            self._console.print(line, soft_wrap=True)

    def _widths(self, columns: Sequence[Column], texts: list[list[Text]]) -> list[int]:
        """Make each column as wide as its longest cell; if that is too wide, shrink the widest flexible column."""
        widths = [max([len(column.title), *(row[n].cell_len for row in texts)]) for n, column in enumerate(columns)]
        for tail in (False, True):
            flexible = [n for n, column in enumerate(columns) if column.flexible and column.tail is tail]
            while flexible and sum(widths) + GAP * (len(widths) - 1) > self._console.width:
                widest = max(flexible, key=widths.__getitem__)
                if widths[widest] <= LEAST:
                    break
                widths[widest] -= 1
        return widths

    def facts(self, facts: dict[str, object]) -> None:
        """Print the names and values of one thing, without values that are None or empty."""
        if self.as_json:
            return
        table = Table(box=None, padding=(0, GAP, 0, 0), show_header=False, pad_edge=False)
        table.add_column(style="dim", no_wrap=True)
        table.add_column(overflow="fold")
        for name, value in facts.items():
            if value not in (None, ""):
                table.add_row(name, _cell(value, printable, utc))
        self._console.print(table)


def _cell(value: object, as_printable: Callable[[str], str], at: Callable[[datetime], str | None]) -> Text:
    """Return a value as the text of a cell.

    as_printable: makes a text printable
    at: formats a moment
    """
    if value is None or value == "":
        return Text("–", style="dim")
    if isinstance(value, timedelta):
        value = length(value)
    text = as_printable(str(at(value) if isinstance(value, datetime) else value))
    return Text(text, style=COLOURS.get(text, ""))


def _fitting(text: Text, column: Column, width: int) -> Text:
    """Return the text as wide as its column. A longer text is cut at its end, or at its beginning if `tail`."""
    text = _ending(text, width) if column.tail else text
    text.truncate(width, overflow="ellipsis")
    text.align("right" if column.right else "left", width)
    return text


def _ending(text: Text, width: int) -> Text:
    """Return a text that fits; only the end of a longer one."""
    if text.cell_len <= width:
        return text
    tail = text.plain[1 - width :]
    while cell_len(tail) >= width:  # a letter may take two cells
        tail = tail[1:]
    return Text(f"…{tail}")


def moment(at: datetime | None) -> str | None:
    """Format a moment in UTC, to the second."""
    return None if at is None else f"{at:%Y-%m-%d %H:%M:%S}"


def utc(at: datetime | None) -> str | None:
    """Format a moment with "UTC", for places without a heading that names the zone."""
    return None if at is None else f"{moment(at)} UTC"


def length(time: timedelta | float | None) -> str | None:
    """Format a duration, or a number of seconds, in its largest unit: 1.5s, 42s, 12m, 3h, 9d."""
    if time is None:
        return None
    return duration(time.total_seconds() if isinstance(time, timedelta) else time, tight=True)


def count(number: int | None) -> str | None:
    """Format a number: 1,204."""
    return None if number is None else f"{number:,}"


def rate(limit: int | None, window: float | None) -> str | None:
    """Format a rate limit as users type it: 100/60."""
    return None if limit is None or window is None else f"{limit}/{window:.15g}"

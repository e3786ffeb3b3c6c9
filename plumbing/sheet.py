"""Write lines of CSV for spreadsheets, which would run a cell that begins like a formula."""

import csv
import io
from collections.abc import Iterable

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last four: full-width


def line(cells: Iterable[object]) -> str:
    """Return a line of CSV without its line break.

    A text that a spreadsheet would run gets an apostrophe before it, which spreadsheets do not show.
    All texts are quoted: a spreadsheet that separates cells by semicolons would otherwise find a formula inside one.
    """
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerow(map(_harmless, cells))
    return text.getvalue()[:-1]


def _harmless(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell

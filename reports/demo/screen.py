"""The output of the demo: tables redrawn in place, or plain lines if there is no terminal."""

import time
from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from reports.demo.observer import Sight
from reports.demo.summary import Line

LINE_EVERY = 2.0  # seconds between two plain lines


class Screen:
    """The progress of each tenant on a terminal: `with Screen(console, names) as screen: screen.show(sights)`."""

    def __init__(self, console: Console, names: Mapping[int, str]) -> None:
        self._console = console
        self._names = names
        self._live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
        self._last_line = 0.0

    def __enter__(self) -> "Screen":
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def show(self, sights: Mapping[int, Sight], *, final: bool = False) -> None:
        """Show the present state.

        final: print a plain line even if it is not yet time for one.
        """
        if self._live:
            self._live.update(self._table(sights), refresh=True)
        elif final or time.monotonic() - self._last_line > LINE_EVERY:
            self._last_line = time.monotonic()
            self._console.print(" | ".join(self._line(sights)), soft_wrap=True)

    def _line(self, sights: Mapping[int, Sight]) -> list[str]:
        return [
            f"{self._names[tenant_id]}: {sight.in_use}/{sight.limit} slots, "
            f"{sight.waiting} waiting, {sight.ended} ended"
            for tenant_id, sight in sights.items()
        ]

    def _table(self, sights: Mapping[int, Sight]) -> Table:
        table = _table("Slots", "Waiting", "Ended", "Errors")
        for tenant_id, sight in sights.items():
            waiting, ended = str(sight.waiting), str(sight.ended)
            table.add_row(self._names[tenant_id], slots(sight), waiting, ended, count(sight.errors))
        return table


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("Tenant", no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def slots(sight: Sight) -> Text:
    """Return the slots as boxes; a box is filled while its slot is in use."""
    used = min(sight.in_use, sight.limit)
    style = "red" if sight.in_use > sight.limit else "cyan"
    return Text.assemble(("■" * used, style), ("□" * (sight.limit - used), "dim"), f" {sight.in_use}/{sight.limit}")


def count(number: int, style: str = "yellow") -> Text:
    """Return a number that stands out unless it is zero."""
    return Text(str(number), style=style if number else "dim")


def summary(lines: Sequence[Line]) -> Table:
    """Return the final table; its times are means."""
    table = _table("Jobs", "Done", "Errors", "Lost", "Dupl.", "Wait s", "Run s", "Peak")
    for line in lines:
        table.add_row(
            line.tenant,
            str(line.jobs),
            str(line.successes),
            count(line.errors),
            count(line.lost, "red"),
            str(line.deduplicated),
            f"{line.wait:.2f}",
            f"{line.run:.2f}",
            peak(line.sight),
        )
    return table


def peak(sight: Sight) -> Text:
    """Return the most slots in use at any look, and the limit."""
    style = "bold red" if sight.over_limit else "green"
    return Text(f"{sight.greatest}/{sight.limit}", style=style)

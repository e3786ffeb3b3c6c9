"""The output of the demo: tables redrawn in place, or plain lines if there is no terminal."""

import time
from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from reports.demo.observer import Sight
from reports.demo.summary import Line

WIDE = 100  # from this width on there is room for a bar
LINE_EVERY = 2.0  # seconds between two plain lines


class Screen:
    """Shows progress per tenant: `with Screen(console, names) as screen: screen.show(sights, total)`."""

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
        """Show the present state; `final`: also if it is not yet time for a plain line."""
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
        wide = self._console.width >= WIDE
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
        table.add_column("Tenant", no_wrap=True)
        table.add_column("Slots", no_wrap=True)
        for heading in ("Waiting", "Ended", "Errors"):
            table.add_column(heading, justify="right")
        if wide:
            table.add_column("", width=self._console.width - WIDE + 35)
        for tenant_id, sight in sights.items():
            numbers: list[RenderableType] = [str(sight.waiting), str(sight.ended), count(sight.errors)]
            total = max(1, sight.waiting + sight.in_use + sight.ended)
            bar: list[RenderableType] = [ProgressBar(total=total, completed=sight.ended, complete_style="cyan")]
            table.add_row(self._names[tenant_id], slots(sight), *numbers, *(bar if wide else []))
        return table


def slots(sight: Sight) -> Text:
    """The slots as boxes; a box is filled while its slot is in use."""
    used = min(sight.in_use, sight.limit)
    style = "red" if sight.in_use > sight.limit else "cyan"
    return Text.assemble(("■" * used, style), ("□" * (sight.limit - used), "dim"), f" {sight.in_use}/{sight.limit}")


def count(number: int, style: str = "yellow") -> Text:
    """A number that stands out unless it is zero."""
    return Text(str(number), style=style if number else "dim")


def summary(lines: Sequence[Line], console: Console) -> Table:
    """The final table, without the longest times in a narrow terminal."""
    wide = console.width >= WIDE
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("Tenant", no_wrap=True)
    headings = ["Jobs", "Done", "Errors", "Lost", "Dupl."]
    headings += ["Mean wait s", "Longest", "Mean run s", "Longest"] if wide else ["Wait s", "Run s"]
    for heading in [*headings, "Peak"]:
        table.add_column(heading, justify="right", no_wrap=True)
    for line in lines:
        times = [line.mean_wait, line.longest_wait, line.mean_run, line.longest_run]
        table.add_row(
            line.tenant,
            str(line.jobs),
            str(line.successes),
            count(line.errors),
            count(line.lost, "red"),
            str(line.deduplicated),
            *(f"{seconds:.2f}" for seconds in (times if wide else times[::2])),
            peak(line.sight),
        )
    return table


def peak(sight: Sight) -> Text:
    """The most slots in use at any look, and the limit."""
    style = "bold red" if sight.over_limit else "green"
    return Text(f"{sight.greatest}/{sight.limit}", style=style)

"""`python -m benchmarks.fair.page a.json b.json`: keep the results, and write the pages and charts from them.

Only this module knows which adapters are this project's own. Where another queue is better, the page says so first. Of
several results each figure is a median; where they disagree on an order, the page says so.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import charts
from .charts import Row
from .figures import NEITHER, SHOWN, known, written
from .peers import HERE, HOME
from .scene import Figures
from .several import Several

RESULTS, PAGE, PICTURES = HERE / "results.json", HOME / "docs" / "fair.md", HOME / "docs" / "pictures"
COMPARED = HOME / "docs" / "compared.md"  # has a table of a few figures, between these two lines
BEGINS, ENDS = "<!-- by benchmarks.fair.page -->\n", "<!-- to here -->\n"
SUMMARY = {  # column: scenario, figure
    "one tenant floods: wait of the others, p95, s": ("flood", "wait_p95_s"),
    "10,000 tenants: wait, p95, s": ("ten_thousand", "wait_p95_s"),
    "100 tenants share the workers: Jain's index": ("zipf", "jain"),
    "workers are killed: jobs that never ended": ("kill", "unfinished"),
    "and the others again after, s": ("kill", "again_s"),
    "of 1,000 bodies that wait, at once": ("waiting", "in_flight"),
    "CPU per job, ms": ("flood", "cpu_ms_per_job"),
}
TEMPLATE = HERE / "page.md"
OWN = {"light": "this, light pool", "ours": "this, ordinary pool"}
NAMES = {
    "celery": "Celery", "celery_queues": "Celery, a queue each", "dbos": "DBOS", "django_tasks_db": "django-tasks-db",
    "dj_queue": "dj-queue", "oban": "Oban (Python)", "pgqueuer": "PgQueuer", "procrastinate": "Procrastinate",
    "seed": "the seed's design",
}  # fmt: skip
TITLES = {
    "flood": "One tenant floods", "limits": "A limit falls and rises", "zipf": "Shares of the workers' time",
    "long_short": "Long jobs of one tenant", "kill": "Workers are killed", "ten_thousand": "Ten thousand tenants",
    "idle": "Nothing to do", "waiting": "A thousand bodies that wait", "snapshot": "A snapshot is left open",
}  # fmt: skip
CLEARLY = 0.1  # of the value: a smaller difference is noise
BUSY = 0.2  # of the cores: with more in use before it, a run measures the other work
DIGITS = 5  # of a figure that is kept
WAITS = ("flood", "long_short", "ten_thousand")
HEADS = {"strict": "strict", "per worker": "of each worker", "none": "none"}


def files(results: list[dict[str, Any]]) -> dict[Path, str]:
    """The page and its charts, by path."""
    runs = Several(results)
    made = {PAGE: _page(runs), COMPARED: _with_summary(COMPARED.read_text(), runs)}
    for scenario, drawn in _charts(runs):
        made[PICTURES / f"fair-{scenario}.svg"] = drawn
    return made


def name(peer: str) -> str:
    return OWN.get(peer) or NAMES.get(peer, peer)


def _page(runs: Several) -> str:
    values = {
        "MACHINE": _machine(runs),
        "BETTER": _table(["scenario", "figure", "ahead", *OWN.values()], _better(runs)),
        "SCENARIOS": "\n".join(_scenario(runs, scenario) for scenario in runs.scenarios),
        "QUEUES": _table(
            ["queue", "version", "limit of a tenant, as its docs promise", "set up by", "runs"], _queues(runs)
        ),
        "MISSING": "\n".join(
            f"- {name(peer)}: not installed: {about['not_installed']}"
            for peer, about in runs.peers.items()
            if "not_installed" in about
        ),
    }
    text = TEMPLATE.read_text()
    for word, value in values.items():
        text = text.replace(f"<!-- {word} -->\n\n", f"{value.strip()}\n\n" if value else "")
    return text


def _with_summary(text: str, runs: Several) -> str:
    """The text, with the table of a few figures of each queue."""
    before, begins, rest = text.partition(BEGINS)
    _, ends, after = rest.partition(ENDS)
    found = {scenario: _figures(runs, scenario) for scenario in runs.scenarios}
    peers = dict.fromkeys(peer for figures in found.values() for peer in figures)
    rows = []
    for peer in sorted(peers, key=_place):
        beyond = sum(figures.get(peer, {}).get("violations") or 0 for figures in found.values())
        cells = [written(figure, found.get(of, {}).get(peer, {}).get(figure)) for of, figure in SUMMARY.values()]
        rows.append([name(peer), f"{beyond:,.0f}", *cells])
    table = _table(["", "starts beyond a limit, in all scenarios", *SUMMARY], rows)
    return f"{before}{begins}\n{table}\n\n{ends}{after}"


def _machine(runs: Several) -> str:
    first, days = runs.first, sorted({result["at"][:10] for result in runs.results})
    shortened = "" if first["scale"] == 1 else f" The times of the scenarios were multiplied by {first['scale']:g}."
    busy = max(result["busy"] for result in runs.results)
    warning = " **The machine had other work: compare limits and shares here, but no times.**" if busy > BUSY else ""
    versions = f"PostgreSQL {first['postgresql']}, Python {first['python']}"
    return (
        f"Measured {_times(len(runs.results))} on {' and '.join(days)}: {first['cores']} cores, of whose "
        f"time {busy:.0%} was in use before it, {versions}.{shortened}{warning}"
    )


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _figures(runs: Several, scenario: str) -> dict[str, Figures]:
    """By peer, ours first."""
    found = runs.figures(scenario)
    return {peer: found[peer] for peer in sorted(found, key=_place)}


def _place(peer: str) -> tuple[bool, str]:
    return peer not in OWN, name(peer).lower()


def _better(runs: Several) -> Iterator[list[str]]:
    """Who is clearly better than both of ours in each run that has it, and who is in some of them only."""
    for scenario in runs.scenarios:
        together = _figures(runs, scenario)
        for figure in SHOWN[scenario]:
            answers = {
                peer: {_is_ahead(told, peer, figure) for told in runs.with_peer(scenario, peer)}
                for peer in together
                if peer not in OWN
            }
            always = [_ahead(peer, figure, together[peer]) for peer, found in answers.items() if found == {True}]
            at_times = [name(peer) for peer, found in answers.items() if found == {True, False}]
            if always or at_times:
                said = [*always, *([f"in some runs only: {', '.join(at_times)}"] if at_times else [])]
                own = [written(figure, together.get(peer, {}).get(figure)) for peer in OWN]
                yield [TITLES[scenario], known(figure).label, "; ".join(said), *own]


def _is_ahead(told: dict[str, Figures], peer: str, figure: str) -> bool:
    """Whether in one run a queue is clearly better than both of ours."""
    direction, value = known(figure).better, told.get(peer, {}).get(figure)
    own = [told.get(one, {}).get(figure) for one in OWN]
    there = [mine for mine in own if mine is not None]
    if direction == NEITHER or not there or value is None:
        return False
    ours = max(there, key=lambda mine: direction * mine)
    return direction * (value - ours) > CLEARLY * abs(ours) and written(figure, value) != written(figure, ours)


def _ahead(peer: str, figure: str, figures: Figures) -> str:
    beyond = figures.get("violations") or 0
    remark = f" ({beyond:,.0f} over)" if beyond else ""
    return f"{name(peer)} **{written(figure, figures[figure])}**{remark}"


def _scenario(runs: Several, scenario: str) -> str:
    by_peer = _figures(runs, scenario)
    columns = [figure for figure in SHOWN[scenario] if any(told.get(figure) is not None for told in by_peer.values())]
    rows = []
    for peer, told in by_peer.items():
        shown = f"**{name(peer)}**" if peer in OWN else name(peer)
        most = [_most(told)] if "violations" in columns else []
        rows.append([shown, *most, *(written(figure, told.get(figure)) for figure in columns)])
    heads = [
        "",
        *(["most at once / limit"] if "violations" in columns else []),
        *(known(each).label for each in columns),
    ]
    times = runs.times(scenario)
    fewer = f" Measured {_times(times)}." if times < len(runs.results) else ""
    parts = [f"### {TITLES[scenario]}", runs.scenarios[scenario] + fewer]
    if any(scenario == drawn for drawn, _ in _charts(runs)):
        parts.append(f"![{CHARTED[scenario]}](pictures/fair-{scenario}.svg)")
    parts.append(_table(heads, rows))
    parts += _not_played(runs, scenario)
    return "\n\n".join(parts) + "\n"


def _most(told: Figures) -> str:
    return f"{told['most']:.0f} / {told['limit']:.0f}"


def _not_played(runs: Several, scenario: str) -> list[str]:
    times = runs.times(scenario)
    lines = []
    for failure in runs.failures(scenario):
        how = "not offered" if failure.not_offered else "failed"
        part = f" in {failure.times} of {times} runs" if times > 1 and not failure.not_offered else ""
        lines.append(f"- {name(failure.peer)}: {how}{part}: {failure.reason}")
    return ["\n".join(lines)] if lines else []


def _queues(runs: Several) -> Iterator[list[str]]:
    for peer, about in runs.peers.items():
        if "not_installed" not in about:
            docs = about["docs"]
            link = f"[{'its docs' if docs.startswith('http') else docs.removesuffix('.md')}]({docs})"
            count = sum(any(run["peer"] == peer for run in result["runs"]) for result in runs.results)
            yield [name(peer), about["version"], HEADS[about["limits"]], link, f"{count}"]


def _table(heads: list[str], rows: Any) -> str:
    rows = list(rows)
    if not rows:
        return ""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "/") for cell in line) + " |" for line in lines)


CHARTED = {
    "flood": "Wait of the quiet tenants' jobs, median (small dot) to p95 (large dot)",
    "long_short": "Wait of the short jobs, median (small dot) to p95 (large dot)",
    "ten_thousand": "Wait of the jobs of other tenants, median (small dot) to p95 (large dot)",
    "zipf": "Jain's index of the seconds that each tenant's bodies got: 1 means equal shares",
    "waiting": "Bodies under way at once, of a thousand",
}


def _charts(runs: Several) -> Iterator[tuple[str, str]]:
    """Their rows are in the order of the tables, not in that of a figure, on which two runs may disagree."""
    for scenario, title in CHARTED.items():
        by_peer = _figures(runs, scenario)
        if not by_peer:
            continue
        if scenario in WAITS:
            rows = [
                Row(name(peer), told["wait_p50_s"], told["wait_p95_s"], _waited(told), peer in OWN)
                for peer, told in by_peer.items()
            ]
            yield scenario, charts.ranges(title, "s", rows, 0.001)
        else:
            figure = {"zipf": "jain", "waiting": "in_flight"}[scenario]
            rows = [
                Row(name(peer), 0, told[figure] or 0.0, written(figure, told[figure]) + _beyond(told), peer in OWN)
                for peer, told in by_peer.items()
            ]
            yield scenario, charts.bars(title, rows, {"zipf": 1.0, "waiting": 1000.0}[scenario])


def _waited(told: Figures) -> str:
    return f"{written('wait_p50_s', told['wait_p50_s'])} to {written('wait_p95_s', told['wait_p95_s'])}{_beyond(told)}"


def _beyond(told: Figures) -> str:
    return " (over limits)" if told.get("violations") else ""


def kept(results: dict[str, Any]) -> dict[str, Any]:
    """As they are kept: figures have DIGITS digits."""
    return json.loads(json.dumps(results), parse_float=lambda written: float(f"{float(written):.{DIGITS}g}"))


def main() -> None:
    results = [kept(json.loads(Path(path).read_text())) for path in sys.argv[1:]]
    made = files(results)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    for old in PICTURES.glob("fair-*.svg"):
        old.unlink()
    for path, text in made.items():
        path.write_text(text)


if __name__ == "__main__":
    main()

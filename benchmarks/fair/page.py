"""`python -m benchmarks.fair.page fair.json`: keep the results, and write docs/fair.md and its charts from them.

Only this module knows which adapters are this project's own. Where another queue is better, the page says so first.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import charts
from .charts import Row
from .figures import LOWER, NEITHER, SHOWN, known, written
from .peers import HERE, HOME

RESULTS, PAGE, PICTURES = HERE / "results.json", HOME / "docs" / "fair.md", HOME / "docs" / "pictures"
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
WAITS = ("flood", "long_short", "ten_thousand")
HEADS = {"strict": "strict", "per worker": "of each worker", "none": "none"}


def files(results: dict[str, Any]) -> dict[Path, str]:
    """The page and its charts, by path."""
    made = {PAGE: _page(results)}
    for scenario, drawn in _charts(results):
        made[PICTURES / f"fair-{scenario}.svg"] = drawn
    return made


def name(peer: str) -> str:
    return OWN.get(peer) or NAMES.get(peer, peer)


def _page(results: dict[str, Any]) -> str:
    values = {
        "MACHINE": _machine(results),
        "BETTER": _table(["scenario", "figure", "best", *OWN.values()], _better(results)),
        "SCENARIOS": "\n".join(_scenario(results, scenario) for scenario in results["scenarios"]),
        "QUEUES": _table(["queue", "version", "limit of a tenant, as its docs promise", "set up by"], _queues(results)),
        "MISSING": "\n".join(
            f"- {name(peer)}: not installed: {about['not_installed']}"
            for peer, about in results["peers"].items()
            if "not_installed" in about
        ),
    }
    text = TEMPLATE.read_text()
    for word, value in values.items():
        text = text.replace(f"<!-- {word} -->\n\n", f"{value.strip()}\n\n" if value else "")
    return text


def _machine(results: dict[str, Any]) -> str:
    shortened = "" if results["scale"] == 1 else f" The times of the scenarios were multiplied by {results['scale']:g}."
    busy = results["load"] > results["cores"]
    warning = " **The machine had other work: compare limits and shares here, but no times.**" if busy else ""
    return (
        f"Measured on {results['at'][:10]}: {results['cores']} cores, load {results['load']:g} before it, PostgreSQL "
        f"{results['postgresql']}, Python {results['python']}.{shortened}{warning}"
    )


def _figures(results: dict[str, Any], scenario: str) -> dict[str, dict[str, float | None]]:
    """By peer, ours first."""
    found = {
        run["peer"]: run["figures"] for run in results["runs"] if run["scenario"] == scenario and not run["failed"]
    }
    return {peer: found[peer] for peer in sorted(found, key=lambda peer: (peer not in OWN, name(peer).lower()))}


def _better(results: dict[str, Any]) -> Iterator[list[str]]:
    """Where another queue is clearly better than both of ours."""
    for scenario in results["scenarios"]:
        by_peer = _figures(results, scenario)
        for figure in SHOWN[scenario]:
            direction = known(figure).better
            values = {peer: value for peer, told in by_peer.items() if (value := told.get(figure)) is not None}
            own = [value for peer, value in values.items() if peer in OWN]
            others = {peer: value for peer, value in values.items() if peer not in OWN}
            if direction == NEITHER or not own or not others:
                continue
            choose = min if direction == LOWER else max
            best, own_best = choose(others, key=lambda peer: others[peer]), choose(own)
            if direction * (others[best] - own_best) > CLEARLY * abs(own_best) and written(
                figure, others[best]
            ) != written(figure, own_best):
                beyond = by_peer[best].get("violations") or 0
                remark = f"; {beyond:,.0f} starts beyond a limit" if beyond else ""
                cells = [f"{name(best)}: **{written(figure, others[best])}**{remark}"]
                cells += [written(figure, values.get(peer)) for peer in OWN]
                yield [TITLES[scenario], known(figure).label, *cells]


def _scenario(results: dict[str, Any], scenario: str) -> str:
    by_peer = _figures(results, scenario)
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
    parts = [f"### {TITLES[scenario]}", results["scenarios"][scenario]]
    if any(scenario == drawn for drawn, _ in _charts(results)):
        parts.append(f"![{CHARTED[scenario]}](pictures/fair-{scenario}.svg)")
    parts.append(_table(heads, rows))
    parts += _not_played(results, scenario)
    return "\n\n".join(parts) + "\n"


def _most(told: dict[str, float | None]) -> str:
    return f"{told['most']:.0f} / {told['limit']:.0f}"


def _not_played(results: dict[str, Any], scenario: str) -> list[str]:
    lines = [
        f"- {name(run['peer'])}: {'not offered' if run['not_offered'] else 'failed'}: {run['failed']}"
        for run in results["runs"]
        if run["scenario"] == scenario and run["failed"]
    ]
    return ["\n".join(lines)] if lines else []


def _queues(results: dict[str, Any]) -> Iterator[list[str]]:
    for peer, about in results["peers"].items():
        if "not_installed" not in about:
            docs = about["docs"]
            link = f"[{'its docs' if docs.startswith('http') else docs.removesuffix('.md')}]({docs})"
            yield [name(peer), about["version"], HEADS[about["limits"]], link]


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


def _charts(results: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for scenario, title in CHARTED.items():
        by_peer = _figures(results, scenario)
        if not by_peer:
            continue
        if scenario in WAITS:
            rows = [
                Row(name(peer), told["wait_p50_s"], told["wait_p95_s"], _waited(told), peer in OWN)
                for peer, told in by_peer.items()
            ]
            yield scenario, charts.ranges(title, "s", sorted(rows, key=lambda row: row.high), 0.001)
        else:
            figure = {"zipf": "jain", "waiting": "in_flight"}[scenario]
            rows = [
                Row(name(peer), 0, told[figure] or 0.0, written(figure, told[figure]) + _beyond(told), peer in OWN)
                for peer, told in by_peer.items()
            ]
            rows.sort(key=lambda row: -row.high)
            yield scenario, charts.bars(title, rows, {"zipf": 1.0, "waiting": 1000.0}[scenario])


def _waited(told: dict[str, float | None]) -> str:
    return f"{written('wait_p50_s', told['wait_p50_s'])} to {written('wait_p95_s', told['wait_p95_s'])}{_beyond(told)}"


def _beyond(told: dict[str, float | None]) -> str:
    return " (over limits)" if told.get("violations") else ""


def main() -> None:
    results = json.loads(Path(sys.argv[1]).read_text())
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    for old in PICTURES.glob("fair-*.svg"):
        old.unlink()
    for path, text in files(results).items():
        path.write_text(text)


if __name__ == "__main__":
    main()

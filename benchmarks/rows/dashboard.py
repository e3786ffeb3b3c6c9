"""dashboard: what the operators' pages cost in a large installation: 10 million finished jobs, a million waiting ones
and 10,000 tenants that all have work. Not among the rows that run by default: filling takes minutes. CPU is that of
this process and of the database; it holds on a busy machine too, where times are longer.

BENCH_SCALE=0.01 fills a hundredth, for a trial. The pages are asked through Django's handler in this process; database
time is that of the calls of the driver, so it includes the way to the server.
"""

import gzip
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.staticfiles import finders
from django.db import connection
from django.test import Client

from benchmarks import cpu, installation
from benchmarks.bars import Bar, Figures
from jobs.console.ops.overview import reads
from jobs.console.ops.shared import history, live, marks, snapshot
from jobs.contrib.metrics.views import everything
from jobs.recording import may_run, record, sample

SCALE = float(os.environ.get("BENCH_SCALE", "1"))
TIMES, SNAPSHOTS, VIEWERS, WATCHED = 40, 20, 50, 6.0  # requests of a page; looks; viewers, for so many seconds
LOOKED_AT = 30.0  # seconds
PAGES = {
    "Overview": "",
    "Tenants": "tenants/",
    "Tenant": "tenants/bench-7/",
    "Queues": "queues/",
    "Jobs": "jobs/",
    "Jobs, status": "jobs/?q=status:error",
    "Jobs, no index": "jobs/?q=args.region:US",
    "Dead": "dead/",
    "Workers": "workers/",
    "Schedules": "schedules/",
    "Health": "health/",
}
SLOW = {"Jobs, status", "Jobs, no index", "Dead"}
HTML, CSS, SCRIPTS, GZIPPED = "first page: HTML, KB", "CSS, KB", "scripts, KB", "all gzipped, KB"
REFRESH, REFRESH_MS, REFRESH_STATEMENTS = "refresh, KB", "refresh, p95 ms", "refresh, statements"
LOOKS, ONE_LOOK, MANY = "snapshot, looks", "snapshot, one, p95 ms", "snapshots, 50 viewers"
LOOK_MS, LOOK_CPU = "snapshot, database ms in 2 s", "snapshot, database CPU in 2 s"
ONE, METRICS_MS, RECORDER = "snapshots, 1 viewer", "metrics, database ms", "recorder, s/min"
RECORDER_CPU = "recorder, CPU s/min"
P95, STATEMENTS, CPU = "{}, p95 ms", "{}, statements", "{}, CPU ms"

BARS = [
    Bar(of=(HTML, "ours"), at_most=60),
    Bar(of=(CSS, "ours"), at_most=20),
    Bar(of=(SCRIPTS, "ours"), at_most=25),
    Bar(of=(GZIPPED, "ours"), at_most=35),
    Bar(of=(REFRESH, "ours"), at_most=12),
    Bar(of=(REFRESH_STATEMENTS, "ours"), at_most=4),
    Bar(of=(REFRESH_MS, "ours"), at_most=10),
    Bar(of=(LOOKS, "ours"), at_most=6),
    Bar(of=(LOOK_MS, "ours"), at_most=25),
    Bar(of=(MANY, "ours"), to=(ONE, "ours"), at_most=2),
    Bar(of=(RECORDER, "ours"), at_most=2),
    *(Bar(of=(STATEMENTS.format(page), "ours"), at_most=14) for page in PAGES),
    *(Bar(of=(P95.format(page), "ours"), at_most=150 if page in SLOW else 50) for page in PAGES),
]
UNCOUNTED = ("SAVEPOINT", "RELEASE", "ROLLBACK", "SET LOCAL", "-- look_briefly\n")  # transactions and settings


@dataclass
class Meter:
    """statements: without transaction control and settings. seconds: in calls of the driver."""

    statements: int = 0
    seconds: float = 0.0

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        begins = time.perf_counter()
        try:
            return execute(sql, params, many, context)
        finally:
            self.seconds += time.perf_counter() - begins
            self.statements += not sql.startswith(UNCOUNTED)


@contextmanager
def metered() -> Iterator[Meter]:
    meter = Meter()
    with connection.execute_wrapper(meter):
        yield meter


def measure(directory: Path) -> Figures:
    """KB, milliseconds, statements."""
    begins = time.monotonic()
    installation.build(
        tenants=max(int(10_000 * SCALE), 20),
        waiting=int(1_000_000 * SCALE),
        finished=int(10_000_000 * SCALE),
        dead=int(20_000 * SCALE),
        ended=int(200_000 * SCALE),
    )
    figures = {"filled in, s": time.monotonic() - begins}
    figures |= _recorder()  # first: the pages read what it records
    client = Client(headers={"Host": "localhost"})
    client.force_login(get_user_model().objects.create_superuser("bench"))
    for measured in (_first_page, _refresh, _pages):
        figures |= measured(client)
    return {what: {"ours": value} for what, value in (figures | _snapshot()).items()}


def _recorder() -> dict[str, float]:
    """The seconds that a minute costs: a sample, twelve looks, the counts of minutes and hours."""
    record.record_minutes()
    record.record_hours()
    spent, used = {}, {}
    duties = {"minutes": record.record_minutes, "hours": record.record_hours, "sample": sample.record_sample}
    for name, duty in (duties | {"look": may_run.MayRun().look}).items():
        begins, meter = time.perf_counter(), cpu.Meter(os.getpid())
        duty()
        spent[name], used[name] = time.perf_counter() - begins, _cpu_of_both(meter, 1) / 1000
    costs = {f"recorder, {name}, ms": seconds * 1000 for name, seconds in spent.items()}
    return costs | {RECORDER: _in_a_minute(spent), RECORDER_CPU: _in_a_minute(used)}


def _in_a_minute(seconds: dict[str, float]) -> float:
    return seconds["minutes"] * 3 + seconds["hours"] + seconds["sample"] + 12 * seconds["look"]


def _first_page(client: Client) -> dict[str, float]:
    html = client.get("/ops/").content
    files = {name: Path(finders.find(f"jobs/ops/{name}")).read_bytes() for name in ("ops.css", *_scripts())}
    css = files["ops.css"]
    return {
        HTML: len(html) / 1000,
        CSS: len(css) / 1000,
        SCRIPTS: sum(len(text) for name, text in files.items() if name != "ops.css") / 1000,
        GZIPPED: sum(len(gzip.compress(text)) for text in (html, *files.values())) / 1000,
    }


def _scripts() -> list[str]:
    folder = Path(finders.find("jobs/ops/ops.css")).parent
    return [str(path.relative_to(folder)) for path in folder.rglob("*.js")]


def _refresh(client: Client) -> dict[str, float]:
    """With everything fresh: nothing has changed; and the weight of the largest region."""
    for kept in (
        snapshot.current,
        live.facts,
        reads.ended_chart,
        reads.ended_before,
        reads.failing_types,
        marks.marks_between,
        history.use_of_last_hour,
        history.fairness,
    ):
        kept.seconds = 3600.0
    page = client.get("/ops/").content.decode()
    known = [f"{name}={version}" for name, version in re.findall(r'data-region="(\w+)" data-v="(\w+)"', page)]
    used = cpu.Meter(os.getpid())
    with metered() as meter:
        times = [_time_of_page(client, "/ops/", Live=" ".join(known)) for _ in range(TIMES)]
    spent = _cpu_of_both(used, TIMES)
    requested = [region for region in known if not region.startswith("busiest=")]
    size = len(client.get("/ops/", headers={"Live": " ".join(requested)}).content)
    return {
        REFRESH: size / 1000,
        REFRESH_MS: _p95(times),
        CPU.format("refresh"): spent,
        REFRESH_STATEMENTS: meter.statements / TIMES,
    }


def _pages(client: Client) -> dict[str, float]:
    """Each page with a fresh snapshot: what a viewer waits for while another one pays for the looks."""
    figures = {}
    for name, path in PAGES.items():
        client.get(f"/ops/{path}")
        used = cpu.Meter(os.getpid())
        with metered() as meter:
            times = [_time_of_page(client, f"/ops/{path}") for _ in range(TIMES)]
        figures |= {P95.format(name): _p95(times), CPU.format(name): _cpu_of_both(used, TIMES)}
        figures[STATEMENTS.format(name)] = meter.statements / TIMES
    return figures


def _snapshot() -> dict[str, float]:
    snapshot.current.seconds = snapshot.REFRESH_SECONDS
    spent, looks = [], 0
    for _ in range(SNAPSHOTS):
        snapshot.forget()
        with metered() as meter:
            snapshot.current()
        spent.append(meter.seconds)
        looks = meter.statements
    with metered() as meter:
        everything.forget()
        everything()
    figures = {LOOKS: float(looks), ONE_LOOK: _p95(spent), METRICS_MS: meter.seconds * 1000, **_each_two_seconds()}
    return figures | {ONE: _looked(1), MANY: _looked(VIEWERS)}


def _each_two_seconds() -> dict[str, float]:
    """Milliseconds in two seconds, while somebody looks all the time."""
    snapshot.forget()
    snapshot.current()
    begins, used = time.monotonic(), cpu.Meter(os.getpid())
    with metered() as meter:
        while (passed := time.monotonic() - begins) < LOOKED_AT:
            snapshot.current()
            time.sleep(0.1)  # as often as many viewers together ask
    return {LOOK_MS: meter.seconds / passed * 2.0 * 1000, LOOK_CPU: (used.read(1)[1] or 0.0) / passed * 2.0}


def _looked(viewers: int) -> float:
    """How often somebody looked while so many viewers asked every two seconds."""
    looks: list[int] = []
    look = snapshot.current.read
    snapshot.current.read = lambda: looks.append(1) or look()
    snapshot.forget()
    until = time.monotonic() + WATCHED

    def watch() -> None:
        while time.monotonic() < until:
            snapshot.current()
            time.sleep(2.0)  # as a page does
        connection.close()

    threads = [threading.Thread(target=watch) for _ in range(viewers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    snapshot.current.read = look
    return float(len(looks))


def _time_of_page(client: Client, path: str, **headers: str) -> float:
    begins = time.perf_counter()
    response = client.get(path, headers=headers)
    if response.status_code not in (200, 204):
        raise AssertionError(f"{path}: {response.status_code}")
    return time.perf_counter() - begins


def _cpu_of_both(used: cpu.Meter, count: int) -> float:
    """CPU milliseconds of this process and of the database, for each of so many."""
    web, database = used.read(count)
    return web + (database or 0.0)


def _p95(seconds: list[float]) -> float:
    return quantiles(seconds, n=20)[-1] * 1000

"""Run the rows one after the other, each in a process of its own on one set of engines, and report the results."""

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import FILLING, LARGE, LONG_PATIENCE, PATIENCE, databases
from embedded import binaries, data_dir, engines, postgresql
from embedded.processes import Processes

MAX_CONNECTIONS = "300"  # two for each of a hundred processes, and some


@dataclass
class Outcome:
    """The result of one row. load: of the machine at its begin; failed: the reason why it did not measure."""

    row: str
    postgresql: str
    load: float
    seconds: float
    figures: dict[str, dict[str, float]] = field(default_factory=dict)
    bars: list[dict[str, Any]] = field(default_factory=list)
    failed: str = ""

    @property
    def passed(self) -> bool:
        return not self.failed and all(bar["passed"] for bar in self.bars)


def rows(names: list[str], server: str) -> list[Outcome]:
    """Run these rows on engines of our own, durable ones, or on the URLs in the environment."""
    if server:
        os.environ[binaries.POSTGRESQL_BIN] = server
    postgresql.SETTINGS["max_connections"] = MAX_CONNECTIONS
    with (
        data_dir.throwaway() as directory,
        Processes() as processes,
        engines.running(directory, processes, os.environ, durable=True) as environ,
        databases.fresh(environ[engines.DATABASE]) as (url, version),
    ):
        settings = {engines.DATABASE: url, "DJANGO_SETTINGS_MODULE": "benchmarks.settings", "LOG_LEVEL": "WARNING"}
        return [_row(name, {**environ, **settings}, version, directory / f"{name}.json") for name in names]


def _row(name: str, environ: dict[str, str], version: str, output: Path) -> Outcome:
    load = round(os.getloadavg()[0], 1)
    print(f"\n{name}, PostgreSQL {version}, {os.cpu_count()} cores, load {load:g} before it", flush=True)  # noqa: T201
    since, patience = time.monotonic(), LONG_PATIENCE if name in (*LARGE, *FILLING) else PATIENCE
    with Processes() as processes:
        process = processes.start(name, [sys.executable, "-m", "benchmarks.row", name, str(output)], environ)
        try:
            status = process.wait(patience)
            failed = f"it ended with status {status}" if status else ""
        except subprocess.TimeoutExpired:
            failed = f"it had not ended after {patience:g} s"
    seconds = round(time.monotonic() - since, 1)
    if failed:
        print(f"  FAILED: {failed}", flush=True)  # noqa: T201
        return Outcome(name, version, load, seconds, failed=failed)
    return Outcome(name, version, load, seconds, **json.loads(output.read_text()))


def report(outcomes: list[Outcome], path: Path, remark: str) -> int:
    """Write the results to `path`, print the missed bars, return the exit status."""
    passed = all(outcome.passed for outcome in outcomes)
    written = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "cores": os.cpu_count(),
        "python": sys.version.split()[0],
        "passed": passed,
        "rows": [asdict(outcome) for outcome in outcomes],
    }
    path.write_text(json.dumps(written, indent=1) + "\n")
    missed = sum(not bar["passed"] for outcome in outcomes for bar in outcome.bars)
    seconds = sum(outcome.seconds for outcome in outcomes)
    failed = sum(bool(outcome.failed) for outcome in outcomes)
    print(f"\n{len(outcomes)} rows in {seconds:.0f} s; {missed} figures miss their bar, {failed} rows failed. {path}")  # noqa: T201
    if remark:
        print(remark)  # noqa: T201
    return 0 if passed else 1

"""`python -m benchmarks.public crash restart`: faults of a public benchmark, with two adapters on engines of their own.

Each fault: ten seconds to warm up, then three phases: before, during, after. Told: jobs done a second in each phase,
the waits after it, and what became of all jobs in the end. Status 1 if one failed, or ran twice without a death.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections import defaultdict

import psutil
import psycopg

from benchmarks import POOL, bells
from benchmarks.public.faults import FAULTS, Scene
from embedded import data_dir, engines, fleet, orphans
from embedded.processes import Processes

WARM, PATIENCE = 10.0, 120.0  # seconds; the second: for what waits in the end
DEADLY = {"crash", "kills", "restart", "sessions"}  # after which a job may have run twice
PHASES = ("warm", "before", "during", "after")


class Replica:
    """An adapter; its samples by phase. The phase is noted by whoever runs the fault."""

    phase = PHASES[0]
    samples: defaultdict[tuple[str, str], list[float]] = defaultdict(list)

    def __init__(self, environ: dict[str, str]) -> None:
        argv = [sys.executable, "-m", "benchmarks.public.adapter"]
        self.process = subprocess.Popen(argv, env=environ, stdout=subprocess.PIPE, text=True, start_new_session=True)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        for line in self.process.stdout or ():
            record = json.loads(line)
            if record["kind"] == "adapter":
                self.samples[Replica.phase, record["metric"]].append(record["value"])

    def kill(self) -> None:
        """With its worker and its worker's processes."""
        adapter = psutil.Process(self.process.pid)
        for process in [adapter, *adapter.children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self.process.wait()


def run(name: str, seconds: float, rate: float, workers: int) -> bool:
    Replica.phase, Replica.samples = PHASES[0], defaultdict(list)
    with (
        data_dir.throwaway() as directory,
        Processes() as processes,
        engines.running(directory, processes, os.environ, durable=True) as environ,
    ):
        more = {"PRODUCER_RATE": str(rate / 2), "WORKER_COUNT": str(workers), "SAMPLE_EVERY_S": "2"}
        theirs = {**environ, **more, "DJANGO_SETTINGS_MODULE": "benchmarks.settings"}
        replicas = [Replica(theirs) for _ in range(2)]

        def kill() -> None:
            replicas.pop().kill()

        def start() -> None:
            replicas.append(Replica(theirs))

        [postgresql] = [process for process in processes if process.name == "postgresql"]
        scene = Scene(environ[engines.DATABASE], postgresql, kill, start)
        time.sleep(WARM)
        for phase in PHASES[1:]:
            Replica.phase = phase
            (FAULTS[name] if phase == "during" else lambda _, wait: time.sleep(wait))(scene, seconds)
        for replica in replicas:
            replica.process.terminate()
        for replica in replicas:
            replica.process.wait()
        with bells.tower(directory):
            log = directory / "last.log"
            last = fleet.worker(POOL, workers, "last", {**theirs, bells.ADDRESS: os.environ[bells.ADDRESS]})
            processes.start("last", *last, log=log)
            counts = ended(environ[engines.DATABASE])
    rates = [sum(Replica.samples[phase, "completion_rate"]) * 2 / seconds for phase in PHASES[1:]]
    waits = [max(Replica.samples["after", f"claim_p{percent}_ms"], default=0.0) for percent in (50, 95, 99)]
    line = f"{name:12} load {os.getloadavg()[0]:4.1f}  done/s {' '.join(f'{rate:5.1f}' for rate in rates)}"
    sys.stdout.write(f"{line}  waits after, ms {' '.join(f'{wait:,.0f}' for wait in waits)}  {counts}\n")
    sys.stdout.flush()
    return not (counts["failed"] or counts["waiting"] or (counts["twice"] and name not in DEADLY))


def ended(url: str) -> dict[str, int]:
    """What became of all jobs, when a last worker has run those that waited."""
    deadline = time.monotonic() + PATIENCE
    with psycopg.connect(url, autocommit=True) as server:
        while True:
            row = server.execute(
                "SELECT count(*), count(*) FILTER (WHERE status = 'success'), count(*) FILTER (WHERE end_time IS NULL),"
                " count(*) FILTER (WHERE attempt > 1) FROM jobs"
            ).fetchone()
            jobs, good, waiting, twice = row or (0, 0, 0, 0)
            if not waiting or time.monotonic() > deadline:
                return {"jobs": jobs, "failed": jobs - good - waiting, "waiting": waiting, "twice": twice}
            time.sleep(1)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.public", description=__doc__)
    parser.add_argument("faults", nargs="*", choices=[*FAULTS, []], help=f"default: all: {', '.join(FAULTS)}")
    parser.add_argument("--seconds", type=float, default=30.0, help="of a phase (30)")
    parser.add_argument("--rate", type=float, default=30.0, help="jobs a second of both adapters (30)")
    parser.add_argument("--workers", type=int, default=4, help="processes of each (4)")
    arguments = parser.parse_args()
    orphans.inherit()
    good = [run(name, arguments.seconds, arguments.rate, arguments.workers) for name in arguments.faults or FAULTS]
    orphans.sweep(spared=Processes())
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())

"""An adapter in the contract of hardbyte/postgresql-job-queue-benchmarking: `python -m benchmarks.public.adapter`.

It reads the variables of its CONTRIBUTING_ADAPTERS.md (93677ca), writes JSON lines, and ends within five seconds of a
SIGTERM. Jobs are submitted by `submit_many`, and run by a worker of its own, whose bodies ring. A job's number is the
moment of its submit in microseconds, so that whichever adapter hears its ring knows how long it waited.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import django

MANIFEST = json.loads(Path(__file__).with_name("adapter.json").read_text())
WINDOW = 30.0  # seconds of the latencies
MOST = 200_000  # latencies in memory
STOP = 4.0  # seconds that the worker may take to stop

DEFAULTS = {
    "DJANGO_SETTINGS_MODULE": "benchmarks.settings",
    "CELERY_BROKER_URL": "postgresql://",  # where the harness gives no broker
    "LOG_LEVEL": "ERROR",
}


def number(name: str, default: float) -> float:
    return float(os.environ.get(name) or default)


class Counts:
    """What happened since the last sample, and the latencies of the last 30 seconds."""

    def __init__(self) -> None:
        self.submitted = 0
        self.latencies: deque[tuple[float, float]] = deque(maxlen=MOST)

    def percentile(self, percent: int) -> float:
        from benchmarks.public.driving import quantile

        since = time.time() - WINDOW
        recent = [latency for moment, latency in list(self.latencies) if moment > since]
        return quantile(recent, percent) * 1000 if recent else 0.0


def main() -> None:
    os.environ.update({name: os.environ.get(name) or value for name, value in DEFAULTS.items()})
    stopped = threading.Event()
    for sent in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sent, lambda *_: stopped.set())
    from benchmarks import bells

    with tempfile.TemporaryDirectory() as directory, bells.tower(Path(directory)):
        django.setup()
        import scheduler_project.celery  # noqa: F401  # the app that carries messages
        from benchmarks import installed

        thing = installed.thing(slots=int(number("WORKER_COUNT", 4)))
        tell({"kind": "descriptor", **MANIFEST, "version": version_told(), "started_at": moment()})
        worker = installed.start_worker(int(number("WORKER_COUNT", 4)))
        counts = Counts()
        threading.Thread(target=produce, args=[thing, counts, stopped], daemon=True).start()
        try:
            sample(counts, stopped)
        finally:
            stop(worker)


def produce(thing: object, counts: Counts, stopped: threading.Event) -> None:
    """Submit at the rate, credited by the time that has passed; or so many that as many wait as shall."""
    from django.db import DatabaseError, InterfaceError, connection

    rate, largest_batch = number("PRODUCER_RATE", 100), int(number("PRODUCER_BATCH_MAX", 128))
    depth = int(number("TARGET_DEPTH", 0)) if os.environ.get("PRODUCER_MODE") == "depth-target" else 0
    credit, last = 0.0, time.monotonic()
    while not stopped.wait(number("PRODUCER_BATCH_MS", 25) / 1000):
        now = time.monotonic()
        credit, last = min(credit + rate * (now - last), 10 * rate), now
        try:
            count = min(largest_batch, max(0, depth - waiting()) if depth else int(credit))
            if count:
                submit(thing, count)
                counts.submitted += count
                credit -= count
        except (DatabaseError, InterfaceError):
            connection.close()


def submit(thing: object, count: int) -> None:
    from jobs import submit_many

    first, payload = time.time_ns() // 1000, "x" * int(number("JOB_PAYLOAD_BYTES", 256))
    call = thing.async_.work.request
    seconds = number("JOB_WORK_MS", 1) / 1000
    submit_many(call(tenant=0, n=first + n, seconds=seconds, payload=payload) for n in range(count))


def waiting() -> int:
    from jobs import queries
    from jobs.lifecycle import Status

    return queries.all_jobs().filter(queries.of_status(Status.CREATED)).count()


def sample(counts: Counts, stopped: threading.Event) -> None:
    """Tell the metrics at each full period of the wall clock."""
    from django.db import DatabaseError, InterfaceError, connection

    from benchmarks import bells

    every, reported, depth = number("SAMPLE_EVERY_S", 5), 0, 0
    while not stopped.wait(every - time.time() % every):
        rings = bells.heard()
        bells.forget()
        begun = [ring for ring in rings if ring.words[0] == "begin"]
        counts.latencies.extend((ring.moment, max(0.0, ring.moment - int(ring.words[2]) / 1e6)) for ring in begun)
        submitted, reported = counts.submitted - reported, counts.submitted
        try:
            depth = waiting()
        except (DatabaseError, InterfaceError):
            connection.close()
        values = {f"claim_p{percent}_ms": (counts.percentile(percent), WINDOW) for percent in (50, 95, 99)}
        values |= {"enqueue_rate": (submitted / every, every), "queue_depth": (depth, 0)}
        values |= {"completion_rate": ((len(rings) - len(begun)) / every, every)}
        for metric, (value, window) in values.items():
            labels = {"subject_kind": "adapter", "subject": "", "metric": metric}
            tell(
                {
                    "t": moment(),
                    "system": MANIFEST["system"],
                    "kind": "adapter",
                    **labels,
                    "value": value,
                    "window_s": window,
                }
            )


def tell(record: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


def moment() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def version_told() -> str:
    return f"Django {django.__version__}, Celery {version('celery')}"


def stop(worker: "subprocess.Popen[bytes]") -> None:
    worker.terminate()
    try:
        worker.wait(STOP)
    except subprocess.TimeoutExpired:
        os.killpg(worker.pid, signal.SIGKILL)


if __name__ == "__main__":
    main()

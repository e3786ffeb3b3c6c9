"""Nothing to do: what do two workers cost while they wait?"""

import time

import psycopg

from ..scene import Figures, Scene

WORDS = "Two workers for five bodies each have nothing to do, of ten tenants."
WORKERS, AT_ONCE, SLOTS = 2, 5, 5
TENANTS = [f"tenant{n}" for n in range(10)]
SETTLE, WINDOW = 2.0, 5.0  # seconds
COMMITS = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"


def play(scene: Scene) -> Figures:
    scene.setup(dict.fromkeys(TENANTS, SLOTS))
    scene.start(WORKERS, AT_ONCE)
    time.sleep(SETTLE)
    meter, before, since = scene.meter(), _commits(scene), time.monotonic()
    time.sleep(WINDOW * scene.scale)
    commits, lasted = _commits(scene) - before, time.monotonic() - since
    return {
        "cpu_ms_per_s": meter.read()["cpu_ms_per_s"],
        "transactions_per_s": commits / lasted,
        "memory_mib": scene.memory(),
        **scene.connections(),
    }


def _commits(scene: Scene) -> int:
    with psycopg.connect(scene.urls["postgresql"], autocommit=True) as server:
        row = server.execute(COMMITS).fetchone()
        return int(row[0]) if row else 0

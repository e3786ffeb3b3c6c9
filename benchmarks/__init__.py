"""`make bench`: this project, plain Celery and the seed's design side by side, in one run on one machine.

Each row is a module of `benchmarks.rows`. It runs in a process of its own on an empty database, declares its bars as
data, returns figures, and has a time limit. `docs/performance.md` explains the figures.
"""

import os

ROWS = (
    *("drain", "idle", "submit", "claim", "running", "door", "fleet"),
    *("http", "fairness", "light", "busy", "due", "memory"),
)
PUBLIC = ("neighbour", "flood", "burst", "pickup", "processes")  # scenarios of a public benchmark: docs/compared.md
INSIGHT = ("coverage", "what_if", "budgets")  # how near what is said of the future comes: docs/insight.md
LIGHT_POOL = (  # what light pools must reach
    *("light_drain", "light_waiting", "light_orm", "light_shares"),
    *("light_pickup", "light_stops", "light_blocked", "light_ends"),
)
THOROUGH = os.environ.get("THOROUGH") == "1"  # the rows of light pools with `benchmarks.mix`
SHORTER = float(os.environ.get("BENCH_SECONDS", "0"))  # of load in each of these, for a trial; 0: the whole experiment
LARGE = (
    "dashboard",
    "fleets",
    "inversion",
    "no_broker",
    "partitions",
    *INSIGHT,
    *LIGHT_POOL,
    *PUBLIC,
)  # they take long, or interest few: they run only when they are named
GROUPS = {"insight": INSIGHT, "light-pool": LIGHT_POOL}  # rows that have one name together
EVERY_VERSION = frozenset({"claim", "running"})  # rows that run on every PostgreSQL found, not only on the newest
POOL = "bench"  # of our workers: a broker that serves others too must not mix their messages with ours
PATIENCE = 400.0  # seconds that one row may take; the longest takes about two minutes
LONG_PATIENCE = 2400.0  # and a large one
FILLING = ("claim",)  # rows that insert millions of jobs, which on a slow day takes many times as long: as a large one

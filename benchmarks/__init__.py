"""`make bench`: this project, plain Celery and the seed's design side by side, in one run on one machine.

Each row is a module of `benchmarks.rows`, run in a process of its own on an empty database. It declares its bars
as data, gives back figures, and stops at its patience. `docs/performance.md` says how to read them.
"""

ROWS = ("drain", "idle", "submit", "claim", "door", "http", "fairness", "light", "busy", "due", "memory")
EVERY_VERSION = frozenset({"claim"})  # rows that are run on each PostgreSQL found, not on the newest only
PATIENCE = 400.0  # seconds that one row may take; the longest takes about two minutes

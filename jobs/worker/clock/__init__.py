"""The clock: promote due jobs in time, dispatch regularly as a safety net, and run the periodic duties.

Every worker runs a clock; `manage.py clock` runs one alone. An advisory lock makes one of them the leader. That is a
session lock, so it needs a direct connection or a pooler in session mode.

All tenants depend on the clock, so it waits for no transaction and no broker. Its statements skip locked rows until the
next tick, and its session has time limits. Long reads run in another thread (upkeep).
"""

from jobs.worker.clock.background import Schedules, Webhooks, recorder, upkeep
from jobs.worker.clock.clock import Clock

__all__ = ["Clock", "Schedules", "Webhooks", "recorder", "upkeep"]

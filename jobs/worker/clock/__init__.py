"""The clock: promote due jobs in time, dispatch regularly as a safety net, and run the periodic duties.

Every worker runs one; `manage.py clock` runs it alone. An advisory lock makes one of them the leader. It is a session
lock, so it needs a direct connection or a pooler in session mode.

All tenants depend on the clock, so it waits for nobody. Its statements skip locked rows until the next tick, its
session has time limits, the upkeep runs long reads in another thread, and it does not talk to the broker.
"""

from jobs.worker.clock.background import Schedules, Webhooks, recorder, upkeep
from jobs.worker.clock.clock import Clock

__all__ = ["Clock", "Schedules", "Webhooks", "recorder", "upkeep"]

"""The clock: promotes what is due at its moment, dispatches as a net, and sees to the periodic duties.

Every worker carries one; `manage.py clock` runs it alone. An advisory lock makes one of them the leader. It is a
session lock, so it needs a direct connection or a pooler in session mode.

All tenants depend on it, so it waits for nobody: its statements pass over rows that are locked, and take them at the
next tick; its session gives up in time; what reads much is the upkeep's, in another thread; it talks to no broker.
"""

from jobs.processes.clock.clock import Clock
from jobs.processes.clock.schedules import Schedules
from jobs.processes.clock.upkeep import Upkeep

__all__ = ["Clock", "Schedules", "Upkeep"]

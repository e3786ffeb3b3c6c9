"""The health of the scheduler: facts from a look, and conditions as pure functions over them."""

from jobs.reading.health.causes import Chain, chains
from jobs.reading.health.conditions import RULES, Condition, conditions, runbook
from jobs.reading.health.facts import MINUTES, Facts, look
from jobs.reading.health.fault import Fault

__all__ = ["MINUTES", "RULES", "Chain", "Condition", "Facts", "Fault", "chains", "conditions", "look", "runbook"]

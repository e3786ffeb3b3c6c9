"""The health of the scheduler: facts from a look, and conditions as pure functions over them."""

from jobs.reading.health.conditions import RULES, Condition, conditions, runbook
from jobs.reading.health.facts import MINUTES, Facts, look

__all__ = ["MINUTES", "RULES", "Condition", "Facts", "conditions", "look", "runbook"]

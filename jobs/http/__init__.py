"""The parts that both APIs, of tenants and of operators, are made of."""

from jobs.checks.extras import require

require("api", __name__)

"""The addresses that Prometheus and a monitor read: `/metrics`, `/metrics/tenants`, `/metrics/health`."""

from jobs.checks.extras import require

require("metrics", __name__)

"""The HTTP API, `/api/v1`: authentication, schemas of requests and responses, endpoints, problems."""

from jobs.checks.extras import require

require("api", __name__)

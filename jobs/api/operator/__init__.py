"""The operators' part of the API: limits, pauses and dead letters, of all tenants. No tenant's key opens it."""

from jobs.api.operator import dead, job_types, queues, tenants

routers = [queues.router, tenants.router, job_types.router, dead.router]

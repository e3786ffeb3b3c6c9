"""The operators' part of the API: jobs, limits, pauses, keys and dead letters of all tenants.

A tenant's key has no access.
"""

from jobs.console.api import dead, job_types, jobs, keys, queues, stats, tenants

routers = [jobs.router, queues.router, tenants.router, keys.router, job_types.router, dead.router, stats.router]

"""The operators' part of the API: jobs, limits, pauses, keys and dead letters of all tenants.

A tenant's key has no access.
"""

from jobs.console.api import audit, batches, dead, job_types, jobs, keys, queues, tenants, usage

routers = [module.router for module in (jobs, batches, queues, tenants, keys, job_types, dead, usage, audit)]

"""The pages of a tenant's members: their jobs, why those wait, their slots, their schedules. Under /jobs/."""

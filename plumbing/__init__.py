"""Plumbing below all apps: it knows Django and PostgreSQL, and neither tenants nor jobs."""

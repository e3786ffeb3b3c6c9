"""The layer below all apps: it knows Django and PostgreSQL, and neither tenants nor jobs.

Statements and connections: `prepared`, `wire`, `connections`. Names with a prefix: `names`. Checks: `faults`, `bounds`,
`rates`. Text: `text`, `sheet`, `error_shapes`. Pages: `addresses`, `rendering`, `admin_style`. Limits in memory:
`throttle`.
"""

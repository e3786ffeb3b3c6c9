"""The forms of records: new queues, tenants, keys, members and schedules; and to change a schedule."""

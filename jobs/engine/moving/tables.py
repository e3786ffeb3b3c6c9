"""The tables that move with a tenant, and those that stay. A test holds that each table of the product is listed."""

from jobs.store.moving import MovedTable, NamedParent

_OF_JOB = "EXISTS (SELECT FROM {jobs} j WHERE j.id = t.%s AND j.tenant_id = %%(tenant)s)"
_OF_BATCH = "EXISTS (SELECT FROM {batches} b WHERE b.id = t.batch_id AND b.tenant_id = %(tenant)s)"
_OF_PARENT = "p.tenant_id = %(tenant)s"
_ENDPOINT = NamedParent("endpoint_id", "webhook_endpoints", "salt")

# In the order in which they are stored.
MOVES = (
    MovedTable("batches", keeps_id=True, goes=False),
    MovedTable("batch_tallies", _OF_BATCH, keeps_id=True, tenants=(), goes=False),
    MovedTable("batch_cancels", _OF_BATCH, keeps_id=True),
    MovedTable("jobs", keeps_id=True, of_queue=True),
    MovedTable("failed_attempts", _OF_JOB % "job_id", tenants=()),
    MovedTable("job_edges", _OF_JOB % "follower_id", keeps_id=True, tenants=()),
    MovedTable("job_history", keeps_id=True, of_queue=True, goes=False),
    MovedTable("job_logs", goes=False),
    MovedTable("job_events"),
    MovedTable("job_memories"),
    MovedTable(  # that of a whole queue is about what all tenants here share
        "holds", "t.owner_id = %(tenant)s AND t.tenant_id <> 0", of_queue=True, tenants=("tenant_id", "owner_id")
    ),
    MovedTable("schedules"),
    MovedTable("schedule_runs", _OF_PARENT, tenants=(), parent=NamedParent("schedule_id", "schedules", "name")),
    MovedTable("webhook_endpoints"),
    MovedTable("webhook_messages", _OF_PARENT, tenants=(), parent=_ENDPOINT),
    MovedTable("webhook_hours", _OF_PARENT, tenants=(), parent=_ENDPOINT),
    MovedTable("kept_answers"),
    MovedTable("tenants_apikey", goes=False),
    MovedTable("changes", tenants=("tenant_id", "actor_tenant_id"), goes=False),
)

IN_THE_HEAD = {  # of the file, and not as rows
    "tenants_tenant": "its name and slug; a project with a tenant model of its own makes the row itself",
    "tenants_member": "the names of the users: accounts belong to an installation",
    "tenant_queues": "its limits",
    "tenant_books": "what it has used of its budgets, and the bucket of its rate limit; the door makes the rest anew",
}

_BILL = "each installation bills the work that it did; their sum is the tenant's bill, and no second is billed twice"
_COUNTED = "numbers of this installation's processes, for its own operators"
_DOOR = "the door makes it anew"
_PLACE = "it is about this installation, and no tenant"
_SOON = "it is kept for a day at most, for operators here"
STAYS = {
    "all_failed_attempts": "a view",
    "all_jobs": "a view",
    "arrivals": _DOOR,
    "attempts": _BILL,
    "attempts_default": _BILL,
    "blocked_loops": _PLACE,
    "calibrations": _COUNTED,
    "change_subjects": "the numbers of what operators here changed in bulk; the entry of the tenant moves",
    "closed_days": _PLACE,
    "death_notices": _PLACE,
    "door": _DOOR,
    "forecasts": _COUNTED,
    "freed_slots": _DOOR,
    "full_hours": _SOON,
    "job_ends": "the file is written when all news is read",
    "job_history_rest": "a part of job_history",
    "job_minutes": _COUNTED,
    "job_minutes_default": _COUNTED,
    "lanes": _DOOR,
    "left_line": _COUNTED,
    "limit_changes": _COUNTED,
    "paused_job_types": _PLACE,
    "pool_changes": _PLACE,
    "pools": _PLACE,
    "prediction_totals": _COUNTED,
    "predictions": _COUNTED,
    "queue_turns": _PLACE,
    "queues": "the file names them, and the other installation must have them",
    "recorded": _PLACE,
    "repairs": _PLACE,
    "samples": _COUNTED,
    "servers": _PLACE,
    "slot_hours": _SOON,
    "slot_peaks": _BILL,
    "spent_budgets": _DOOR,
    "stacks": _SOON,
    "tenant_hours": _BILL,
    "tenant_hours_default": _BILL,
    "tenant_moves": "each installation has its own end of a move",
    "tenant_shares": _COUNTED,
    "tenants_operatorkey": _PLACE,
    "totals": _COUNTED,
    "usage_days": _BILL,
    "what_ifs": _PLACE,
    "workers": _PLACE,
}

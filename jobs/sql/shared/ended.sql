-- The columns of an attempt that ends, of its row in `jobs` (after the update), and the slot that it held `before`; its queue
-- and its outcome are beside them.
jobs.id, jobs.attempt, jobs.tenant_id, jobs.source_type, jobs.source_method, jobs.priority, jobs.user_key, jobs.timeout,
jobs.worker, jobs.worker_pid, jobs.ticket, before.slot, jobs.waited_since, jobs.own_until, jobs.queued_at, jobs.start_time, clock.now AS ended_at, jobs.peak_memory, jobs.result_bytes, jobs.units

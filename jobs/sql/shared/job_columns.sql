-- The columns of `jobs` that `job_history` has too, in one order: to copy a row to the history, and back.
id, tenant_id, queue_id, priority, user_key, source_type, source_id, source_method, args, dedup_key, status, slot,
ticket, attempt, crashes, barred, retries, max_retries, timeout, memory, worker, worker_pid, created_at, due_at,
ready_at, queued_at, handed_at, start_time, end_time, cancel_requested_at, died_at, progress, progress_note, stats,
last_error, result_expires_at, result_bytes, waited_since, own_until, peak_memory, trace_parent, batch_id, expires_at, reason, sequence,
sequence_stops, cursor, event, handed_back, handed_back_why, units, spends

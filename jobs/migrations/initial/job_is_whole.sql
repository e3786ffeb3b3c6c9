-- Every statement that writes a row of `jobs` reads the text of all its CHECK constraints anew, and plans them: 50 us for the
-- sixteen that there were. The plan of this one is kept by the session.
CREATE FUNCTION job_is_whole(
    status text, blocked_at timestamptz, due_at timestamptz, ready_at timestamptz, slot int, end_time timestamptz,
    died_at timestamptz, worker uuid, start_time timestamptz, ticket bigint, attempt int,
    priority int, crashes int, retries int, max_retries int, memory int, worker_pid int, result_bytes int
) RETURNS bool LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN num_nonnulls(blocked_at, due_at, ready_at, slot, end_time) = 1  -- exactly one witness: that of the status
        AND status = ANY (
            CASE
            WHEN blocked_at IS NOT NULL THEN '{blocked}'::text[]
            WHEN due_at IS NOT NULL THEN '{scheduled}'
            WHEN ready_at IS NOT NULL THEN '{created}'
            WHEN slot IS NOT NULL THEN '{queued,running}'
            ELSE '{success,error,dead,cancelled}'
            END
        )
        AND (status = 'dead') = (died_at IS NOT NULL)
        AND (status <> 'running' OR num_nulls(worker, start_time) = 0)
        AND (slot IS NULL OR slot >= 1 AND ticket IS NOT NULL AND attempt >= 1)
        AND priority BETWEEN 0 AND 10
        AND least(attempt, crashes, retries, max_retries, memory, worker_pid, result_bytes) >= 0;
END
$$;

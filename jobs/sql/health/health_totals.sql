-- Reads:  the numbers that only grow, of each queue, job type and outcome. Who: metrics. Locks: none. Index: all of totals.
SELECT
    coalesce(q.name, 'queue ' || t.queue_id) AS queue, t.source_type, t.source_method, t.outcome,
    t.attempts, t.run_seconds, t.run_buckets, t.wait_buckets, t.wait_seconds
FROM totals t LEFT JOIN queues q ON q.id = t.queue_id
ORDER BY 1, 2, 3, 4

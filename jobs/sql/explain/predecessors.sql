-- Reads:  the jobs that a blocked job still waits for, at most `most`, first those that have ended otherwise. Who: explain.
-- Locks:  none. Index: job_edges_of_follower; primary keys.
SELECT e.predecessor_id AS id, coalesce(p.status, b.state, 'gone') AS status, e.until, count(*) OVER ()::int AS count
FROM job_edges e
LEFT JOIN LATERAL (SELECT status FROM all_jobs WHERE id = e.predecessor_id LIMIT 1) p ON true
LEFT JOIN LATERAL (
    SELECT format(
        'batch, %%s of %%s ended%%s', t.success + t.error + t.dead + t.cancelled, b.added,
        CASE WHEN b.closed_at IS NULL THEN ', and it is still open' END
    ) AS state
    FROM batches b JOIN batch_tallies t ON t.batch_id = b.id
    WHERE b.id = e.predecessor_id
    LIMIT 1
) b ON true
WHERE e.follower_id = %(id)s
ORDER BY e.until, e.predecessor_id
LIMIT %(most)s

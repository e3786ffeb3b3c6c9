-- Reads:  the last runs of these schedules, at most `most` of each, latest first. Runs are kept for months.
-- Who:    the operators' pages. Locks: none. Index: schedule_runs_once.
SELECT r.schedule_id, r.due, r.job_id, r.note
FROM unnest(%(ids)s::bigint[]) AS asked (schedule_id)
CROSS JOIN LATERAL (
    SELECT schedule_id, due, job_id, note FROM schedule_runs
    WHERE schedule_runs.schedule_id = asked.schedule_id
    ORDER BY due DESC
    LIMIT %(most)s
) r
ORDER BY r.due DESC

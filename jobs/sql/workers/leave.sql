-- Change: record that a worker stopped in good order. Who: the worker itself, after its last job.
UPDATE workers SET gone_at = clock_timestamp() WHERE id = %(id)s AND gone_at IS NULL

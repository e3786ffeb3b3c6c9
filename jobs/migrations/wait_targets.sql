-- From now on the record of limits has the wait targets of queues: each attempt is judged by the one under which it started.
CREATE OR REPLACE FUNCTION limits_of(said jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
SELECT jsonb_object_agg(key, value) FROM jsonb_each(said) WHERE key IN (
    'num_slots', 'burst_slots', 'user_slots', 'queue_slots', 'weight', 'rate_limit', 'rate_window', 'paused', 'pool', 'concurrency',
    'tenant_slots', 'wait_target', 'name', 'source_type', 'source_method'
)
$$;

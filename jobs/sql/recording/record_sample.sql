-- Change: the sample of a minute. Who: the recorder, under the lock of its row in `recorded`. Locks: none.
INSERT INTO samples (at, tenants, queues, pools, states, fairness)
VALUES (
    %(at)s, %(tenants)s::jsonb, %(queues)s::jsonb, %(pools)s::jsonb, %(states)s::jsonb, %(fairness)s::float8
)
ON CONFLICT (at) DO NOTHING

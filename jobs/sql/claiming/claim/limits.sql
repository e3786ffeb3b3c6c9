-- 4. Cut at every limit. The room includes rate limits, as the tokens in the bucket. The users' limit follows in
-- chapter 5, when the jobs are known. Across pools a tenant's lanes take turns: times of two pools cannot be compared.
within_tenant AS (
    SELECT * FROM (
        SELECT *, row_number() OVER (PARTITION BY tenant_id ORDER BY tenant_rank, position, lane_rank) AS nth_of_tenant
        FROM ranked
    ) r
    WHERE nth_of_tenant <= tenant_free  -- guard I1
),
within_queue AS (
    SELECT * FROM (
        SELECT *, row_number() OVER (PARTITION BY queue_id ORDER BY queue_rank) AS nth_of_queue
        FROM within_tenant
    ) r
    WHERE queue_free IS NULL OR nth_of_queue <= queue_free  -- guard I1
),
chosen AS MATERIALIZED (
    SELECT * FROM (
        SELECT *, row_number() OVER (PARTITION BY pool ORDER BY pool_rank) AS nth_of_pool
        FROM within_queue
    ) r
    WHERE nth_of_pool <= pool_free  -- guard I1
),
served AS MATERIALIZED (  -- the lanes, and the number of jobs to take from each
    SELECT queue_id, tenant_id, pool, count(*)::int AS n, min(pool_rank) AS pool_rank
    FROM chosen GROUP BY queue_id, tenant_id, pool
),

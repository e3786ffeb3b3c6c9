-- Reads:  in one snapshot, the data with which a forecast begins: the books, the first jobs of each line and some further back, the
--         jobs in slots, the jobs due soon, and the jobs submitted lately. At most `jobs` jobs in line, at most `deep` of each line;
--         all lines together are walked over at most `walked` jobs, or over one of each. All moments are seconds from now.
-- Who:    the recorder. Locks: none. Index: jobs_claim, jobs_one_job_per_slot, jobs_due, the primary key of jobs from its end;
--         attempts_ended; all of the books.
WITH
-- include shared/present
-- include shared/in_line
line AS MATERIALIZED (
    SELECT
        i.tenant_id, i.queue_id, i.waiting, (
            SELECT json_build_object(
                'state', state, 'position', position, 'virtual_time', virtual_time, 'head', head, 'last_user', last_user,
                'opens_at', extract(epoch FROM opens_at - clock.now)::float8
            )
            FROM lanes WHERE tenant_id = i.tenant_id AND queue_id = i.queue_id ORDER BY version DESC LIMIT 1
        ) AS known
    FROM in_line i JOIN queues q ON q.id = i.queue_id CROSS JOIN clock
),
depth AS MATERIALIZED (
    SELECT near, least(greatest(%(walked)s::int / n, near), %(deep)s::int) AS deep
    FROM (SELECT n, least(greatest(%(jobs)s::int / n, 1), %(near)s::int) AS near FROM (SELECT greatest(count(*), 1)::int AS n FROM line) counted) o
),
seen AS MATERIALIZED (
    SELECT l.tenant_id, l.queue_id, j.*
    FROM line l
    CROSS JOIN depth
    CROSS JOIN LATERAL (
        SELECT id, job_place(priority, id) AS place, nth, user_key, source_type || '.' || source_method AS job_type, ready_at
        FROM (
            SELECT *, row_number() OVER (ORDER BY priority, id)::int AS nth FROM (
                SELECT id, priority, user_key, source_type, source_method, ready_at FROM jobs
                WHERE ready_at IS NOT NULL AND queue_id = l.queue_id AND tenant_id = l.tenant_id
                ORDER BY priority, id
                LIMIT depth.deep
            ) first
        ) j
        WHERE nth <= depth.near OR nth = ANY(%(marks)s::int[])
    ) j
),
due AS MATERIALIZED (
    SELECT due_at, tenant_id, queue_id, priority, user_key, source_type || '.' || source_method AS job_type, id
    FROM jobs CROSS JOIN clock
    WHERE due_at IS NOT NULL AND due_at < clock.now + %(horizon)s::float8 * interval '1 s' AND attempt = 0
    ORDER BY due_at
    LIMIT %(arrivals)s::int
),
came AS MATERIALIZED (  -- those submitted lately; jobs that were delayed come by `due`, retries by the log
    SELECT * FROM (
        SELECT created_at, tenant_id, queue_id, priority, user_key, source_type || '.' || source_method AS job_type, due_at
        FROM jobs ORDER BY id DESC LIMIT %(arrivals)s::int
    ) newest
    WHERE EXISTS (SELECT FROM line)
),
since AS MATERIALIZED (  -- if they were too many to read, all of a shorter time
    SELECT clock.now, CASE
        WHEN (SELECT count(*) FROM came) < %(arrivals)s::int THEN clock.now - %(window)s::float8 * interval '1 s'
        ELSE greatest((SELECT min(created_at) FROM came), clock.now - %(window)s::float8 * interval '1 s')
    END AS moment
    FROM clock
),
arrival AS (
    SELECT created_at AS at, tenant_id, queue_id, priority, user_key, job_type
    FROM came CROSS JOIN since
    WHERE created_at >= since.moment AND created_at <= since.now AND due_at IS NULL
    UNION ALL
    SELECT * FROM (
        SELECT waited_since, a.tenant_id, a.queue_id, a.priority, a.user_key, source_type || '.' || source_method
        FROM attempts a CROSS JOIN since
        WHERE EXISTS (SELECT FROM line)
          AND ended_at >= since.moment AND attempt > 1 AND waited_since >= since.moment AND waited_since <= since.now
        LIMIT %(arrivals)s::int
    ) again
)
SELECT
    clock.now,
    extract(epoch FROM clock.now - since.moment)::float8 AS window,
    (SELECT coalesce(json_object_agg(pool, processes), '{}') FROM live_pool)::text AS pools,
    (SELECT coalesce(json_agg(pool), '[]') FROM live_pool WHERE light)::text AS light,
    (SELECT coalesce(jsonb_agg(limits_of(to_jsonb(q)) || jsonb_build_object(
        'id', id, 'full_at', extract(epoch FROM full_at - clock.now)::float8,
        'virtual_time', coalesce(virtual_time, 0), 'pool_time', pool_time, 'lane_time', coalesce(lane_time, 0), 'growth', coalesce(growth, 0),
        'head', head, 'circle_end', coalesce(circle_end, 0), 'round_least', round_least, 'round_growth', round_growth,
        'mean_seconds', coalesce(mean_seconds, 0)
    )), '[]') FROM queue_state q)::text AS queues,
    (SELECT coalesce(jsonb_agg(limits || jsonb_build_object('id', tenant_id, 'full_at', seconds)), '[]') FROM (
        SELECT who.tenant_id, coalesce(limits_of(to_jsonb(t)), '{}') AS limits, extract(epoch FROM b.full_at - clock.now)::float8 AS seconds
        FROM (
            SELECT tenant_id FROM line
            UNION SELECT tenant_id FROM jobs WHERE slot IS NOT NULL
            UNION SELECT tenant_id FROM arrival
            UNION SELECT tenant_id FROM due
        ) who
        LEFT JOIN tenant_queues t ON t.tenant_id = who.tenant_id
        LEFT JOIN LATERAL (
            SELECT rate_full_at(t.rate_limit, t.rate_window, b.full_at, b.full_limit, b.full_window, clock.now) AS full_at
            FROM tenant_books b WHERE b.tenant_id = who.tenant_id ORDER BY version DESC LIMIT 1
        ) b ON true
    ) o)::text AS tenants,
    (SELECT coalesce(json_agg(line), '[]') FROM line)::text AS lines,
    (SELECT coalesce(json_agg(o), '[]') FROM (
        SELECT id, tenant_id, queue_id, place, nth, user_key AS user, job_type, extract(epoch FROM ready_at - clock.now)::float8 AS ready_at
        FROM seen ORDER BY queue_id, tenant_id, nth
    ) o)::text AS in_line,
    (SELECT coalesce(json_agg(o), '[]') FROM (
        SELECT
            j.tenant_id, j.queue_id, job_place(j.priority, j.id) AS place, j.user_key AS user,
            j.source_type || '.' || j.source_method AS job_type, j.ticket / 1000.0 - extract(epoch FROM clock.now) AS claimed_at,
            CASE WHEN j.status = 'running' THEN extract(epoch FROM j.start_time - clock.now)::float8 END AS started_at,
            coalesce(NOT w.live, false) AS leaves
        FROM jobs j JOIN queues q ON q.id = j.queue_id LEFT JOIN present_worker w ON w.id = j.worker
        WHERE j.slot IS NOT NULL
        ORDER BY j.tenant_id, j.slot
    ) o)::text AS holding,
    (SELECT coalesce(json_agg(o), '[]') FROM (
        SELECT
            greatest(extract(epoch FROM due_at - clock.now), 0)::float8 AS at, tenant_id, queue_id, priority, user_key AS user,
            job_type, job_place(priority, id) AS place
        FROM due ORDER BY due.due_at
    ) o)::text AS due,
    (SELECT coalesce(json_agg(o), '[]') FROM (
        SELECT queue_id, tenant_id, greatest(extract(epoch FROM max(until) - clock.now), 0)::float8 AS until FROM holds GROUP BY queue_id, tenant_id
    ) o)::text AS holds,
    (SELECT coalesce(json_agg(o), '[]') FROM (
        SELECT
            extract(epoch FROM at - since.moment)::float8 AS at, tenant_id, queue_id, priority, user_key AS user, job_type
        FROM arrival ORDER BY arrival.at
    ) o)::text AS arrived
FROM clock CROSS JOIN since

-- Arrow:  submit, to created; or schedule, to scheduled, if the job is due later, its job type is paused, or a budget is used up; or block, to blocked,
--         if it waits for others, or is in a sequence (their edges, and the news: awaiting/short.sql).
-- Who:    any caller, inside the caller's own transaction.
-- Locks:  it waits for transactions that are storing identical jobs, over HTTP only briefly; sorted by key, so that two batches cannot deadlock.
-- Index:  jobs_one_identical finds the identical job, and decides which of two simultaneous ones is stored. The lanes give
--         the size of the backlog (primary key); no jobs are counted.
-- Returns the id of each request's job. The id is null if an identical job is no answer and must give up its key
-- (`holder`), or if another transaction is deciding about one; `until`: it must not expire before; `hastens`: it should be more
-- urgent, or due now. The first row has the moment. If nothing is stored, it returns the refusal.
-- The kind holds the common values of many requests, which are passed and looked up once. The planner cannot see into
-- sub-selects of parameters, so it considers the generic plan as good as a custom one, and keeps it.
WITH
-- include shared/clock
-- include shared/briefly
kind AS MATERIALIZED (
    SELECT
        k.*, q.id AS queue_id,
        EXISTS (
            SELECT FROM webhook_endpoints e
            WHERE e.tenant_id = k.tenant_id
              AND e.off_at IS NULL  -- guard
        ) AS announced,  -- a webhook may announce its end
        CASE
            WHEN t.id IS NULL THEN 'tenant'  -- as its snapshot sees it: it does not wait for the deletion of a tenant
            WHEN q.id IS NULL THEN 'queue'
            WHEN k.is_async IS NULL AND EXISTS (  -- one page at most, for each kind of request
                SELECT FROM pools light
                WHERE light.name = q.pool
                  AND light.kind = 'light'  -- guard
                  AND NOT light.threads  -- guard
            ) THEN 'light'
            WHEN k.at <= clock.now THEN 'past'
            WHEN k.at > clock.now + %(longest)s * interval '1 second' THEN 'far'
            WHEN k.expires_at <= begins.at THEN 'expired'
        END AS unfit,
        CASE WHEN k.predecessors IS NULL THEN coalesce(
            k.at,
            clock.now + nullif(k.delay, 0) * interval '1 second',
            CASE WHEN p.id IS NOT NULL OR k.spends IS NOT NULL AND EXISTS (
                SELECT FROM spent_budgets b WHERE b.tenant_id = k.tenant_id AND b.unit = ANY(k.spends)
            ) THEN %(held_until)s::timestamptz END
        ) END AS due_at,
        coalesce(k.expires_at, begins.at + k.expires * interval '1 second') AS last_start
    FROM jsonb_to_recordset((SELECT %(kinds)s::jsonb)) AS k (
        kind int, tenant_id bigint, queue text, priority smallint, user_key text, source_type text, source_method text,
        timeout float8, memory int, max_retries int, delay float8, at timestamptz,
        expires float8, expires_at timestamptz, predecessors bigint[], batch_id bigint, identical text, is_async boolean,
        sequence_stops boolean, spends text[]
    )
    CROSS JOIN clock
    CROSS JOIN briefly
    CROSS JOIN LATERAL (SELECT coalesce(k.at, clock.now + coalesce(k.delay, 0) * interval '1 second') AS at) begins
    LEFT JOIN tenants_tenant t ON t.id = k.tenant_id
    LEFT JOIN queues q ON q.name = k.queue
    LEFT JOIN paused_job_types p ON p.source_type = k.source_type AND p.source_method = k.source_method
),
given AS MATERIALIZED (
    SELECT  -- ids grow in the order of submission, which is the order of the lane (I6)
        nextval((SELECT pg_get_serial_sequence('jobs', 'id')::regclass)) AS id, nth,
        (call ->> 0)::int AS kind, call ->> 1 AS source_id, (call ->> 2)::uuid AS dedup_key,
        (call ->> 3)::bigint AS behind, call -> 4 AS args, call ->> 5 AS sequence
    FROM jsonb_array_elements((SELECT %(calls)s::jsonb)) WITH ORDINALITY AS calls (call, nth)
),
request AS MATERIALIZED (
    SELECT
        given.id, given.nth, given.source_id, given.dedup_key, given.behind, given.args, given.sequence, k.*,
        identical.id AS job, identical.status AS job_status,
        identical.created_at > clock.now - %(window)s * interval '1 second'
            AND identical.id IS DISTINCT FROM %(caller)s::bigint
            AND k.identical = 'join'
            AND (identical.expires_at IS NULL OR identical.expires_at > clock.now) AS answered,
        identical.expires_at < coalesce(k.last_start, 'infinity') AS prolongs,
        identical.status IN ('blocked', 'scheduled', 'created')
            AND (
                k.priority < identical.priority
                OR (k.due_at IS NULL AND k.predecessors IS NULL AND identical.attempt > 0 AND identical.due_at > clock.now)
            ) AS hastens
    FROM given
    JOIN kind k USING (kind)
    CROSS JOIN clock
    LEFT JOIN LATERAL (
        SELECT j.id, j.status, j.created_at, j.expires_at, j.priority, j.attempt, j.due_at
        FROM jobs j
        WHERE j.tenant_id = k.tenant_id AND j.dedup_key BETWEEN given.dedup_key AND given.dedup_key AND j.end_time IS NULL
        ORDER BY j.dedup_key  -- or, where many have had one key, the planner reads the table until it meets another of them
        LIMIT 1
    ) identical ON given.dedup_key IS NOT NULL
),
refused AS MATERIALIZED (
    (SELECT nth, unfit AS why, NULL::int AS bound FROM request WHERE unfit IS NOT NULL ORDER BY nth LIMIT 1)
    UNION ALL
    SELECT NULL, 'full', b.bound
    FROM (  -- arrays, of which the planner expects ten rows: for more, with PostgreSQL's default, each submit would be compiled
        SELECT array_agg(tenant_id) AS tenants, array_agg(jobs) AS jobs
        FROM (SELECT tenant_id, count(*) AS jobs FROM request WHERE answered IS NOT TRUE GROUP BY tenant_id) of_each
    ) of_all
    CROSS JOIN LATERAL unnest(of_all.tenants, of_all.jobs) AS asked (tenant_id, jobs)
    LEFT JOIN tenant_queues limits USING (tenant_id)
    CROSS JOIN LATERAL (  -- a tenant that moves takes no jobs; but as long as its bodies run here, they may submit
        SELECT CASE
            WHEN limits.moving <> '' AND (limits.moving <> 'closing' OR %(caller)s::bigint IS NULL) THEN -1
            ELSE coalesce(limits.max_waiting, %(max_waiting)s::int)
        END AS bound
    ) b
    CROSS JOIN LATERAL (  -- the counts of the lanes, and the arrivals since the last dispatch
-- include shared/backlog
    ) waiting
    WHERE waiting.jobs + asked.jobs > b.bound
),
stored AS (
    INSERT INTO jobs (
        id, tenant_id, queue_id, priority, user_key, source_type, source_id, source_method, args, dedup_key, timeout,
        memory, max_retries,
        status, created_at, ready_at, due_at, expires_at, blocked_at, predecessors, batch_id, behind,
        sequence, sequence_stops, spends,
        attempt, crashes, retries, progress_note, stats, last_error, trace_parent, announced
    )
    SELECT
        r.id, r.tenant_id, r.queue_id, r.priority, r.user_key, r.source_type, r.source_id, r.source_method, r.args,
        r.dedup_key, r.timeout, r.memory, r.max_retries,
        CASE WHEN first.waits THEN 'blocked' WHEN first.due_at IS NULL THEN 'created' ELSE 'scheduled' END,
        clock.now,
        CASE WHEN first.due_at IS NULL AND NOT first.waits THEN clock.now END,
        first.due_at, r.last_start,
        CASE WHEN first.waits THEN clock.now END, r.predecessors, r.batch_id, r.behind,
        r.sequence, r.sequence IS NOT NULL AND r.sequence_stops IS TRUE, r.spends,
        0, 0, 0, '', '{}', '', %(trace_parent)s, r.announced
    FROM request r
    CROSS JOIN clock
    CROSS JOIN LATERAL (  -- the clock looks then whether the running job has ended
        SELECT
            CASE
                WHEN r.sequence IS NULL  -- a type that is paused holds such a job when its turn comes
                THEN coalesce(r.due_at, CASE WHEN r.behind IS NOT NULL THEN clock.now + interval '1 s' END)
            END AS due_at,
            r.predecessors IS NOT NULL OR r.sequence IS NOT NULL AS waits
    ) first
    WHERE r.answered IS NOT TRUE
      AND NOT EXISTS (SELECT FROM refused)
    ORDER BY r.tenant_id, r.dedup_key, r.nth
    ON CONFLICT (tenant_id, dedup_key) WHERE dedup_key IS NOT NULL AND end_time IS NULL DO NOTHING  -- guard I5
    RETURNING id, tenant_id, queue_id, priority, status, ready_at, due_at, expires_at
),
arriving AS (
    SELECT queue_id, tenant_id, CASE WHEN ready_at IS NOT NULL THEN job_place(priority, id) END AS place, 1 AS jobs
    FROM stored
)
-- include shared/arrive
SELECT
    r.nth - 1, coalesce(s.id, CASE WHEN r.answered THEN r.job END), s.id IS NULL, coalesce(s.status, r.job_status),
    CASE WHEN r.nth = 1 THEN clock.now END, s.due_at, CASE WHEN NOT r.answered AND s.id IS NULL THEN r.job END,
    CASE WHEN r.answered AND r.prolongs THEN coalesce(r.last_start, 'infinity')::text END,
    s.expires_at, r.answered AND r.hastens, NULL, NULL
FROM request r
CROSS JOIN clock
LEFT JOIN stored s USING (id)
CROSS JOIN (  -- the clock learns of an earlier moment at once, unless a listener that sleeps has filled the server's queue
    SELECT count(pg_notify('jobs_due', ''))
    FROM (SELECT FROM stored WHERE due_at < %(held_until)s::timestamptz LIMIT 1) due
    WHERE pg_notification_queue_usage() < 0.9
) woken
WHERE NOT EXISTS (SELECT FROM refused)
UNION ALL
SELECT nth - 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, why, bound FROM refused

            -- front: the first places of the lane, as many as are wanted, and eight more in case others have locked some.
            -- startable: how many of them may start by the limits of their users; null: all.
            -- last_user, all_users: where the users' turns end, and whether the visit saw all of its users.
            SELECT
                CASE WHEN tenant.user_slots IS NULL THEN ARRAY(
                    SELECT job_place(j.priority, j.id) FROM jobs j
                    WHERE j.ready_at IS NOT NULL
                      AND j.queue_id = walk.queue_id AND j.tenant_id = lane.tenant_id
                      AND (j.priority, j.id) >= ((lane.head >> 58)::smallint, lane.head & 288230376151711743)
                    ORDER BY j.priority, j.id
                    LIMIT CASE WHEN own.wanted > 0 THEN own.wanted + 8 ELSE 0 END
                ) ELSE coalesce(by_user.places, '{}') END AS front,
                by_user.startable,
                coalesce(by_user.last_user, '') AS last_user,
                coalesce(by_user.all_users, true) AS all_users
            FROM (SELECT) always LEFT JOIN LATERAL (
                -- If the tenant limits its users, they take turns: read 32 users that may start a job, from the end of the
                -- last visit on, and the full users in between, at most as many as hold slots. Their jobs go in the order
                -- of the lane; last come the jobs that replace locked ones of their user, and chapter 5 cuts again. If users
                -- have 0 slots, only jobs without a user go.
                WITH RECURSIVE bound AS MATERIALIZED (
                    SELECT CASE WHEN tenant.user_slots > 0 THEN 32 + (
                        SELECT count(DISTINCT u.user_key) FROM in_use u
                        WHERE u.tenant_id = lane.tenant_id AND u.user_key <> ''
                    ) ELSE 0 END AS most
                ),
                person AS (
                    SELECT
                        CASE WHEN tenant.user_slots > 0 THEN lane.last_user ELSE '' END AS user_key, false AS wrapped,
                        (tenant.user_slots = 0)::int AS nth
                    WHERE tenant.user_slots IS NOT NULL AND own.wanted > 0
                    UNION ALL
                    SELECT step.user_key, step.wrapped, person.nth + 1
                    FROM person
                    CROSS JOIN bound
                    CROSS JOIN LATERAL (
                        SELECT (
                            SELECT j.user_key FROM jobs j
                            WHERE j.ready_at IS NOT NULL
                              AND j.queue_id = lane.queue_id AND j.tenant_id = lane.tenant_id
                              AND j.user_key > person.user_key
                            ORDER BY j.user_key
                            LIMIT 1
                        ) AS user_key
                    ) next
                    CROSS JOIN LATERAL (
                        SELECT
                            person.wrapped OR next.user_key IS NULL AS wrapped,
                            CASE WHEN next.user_key IS NULL AND NOT person.wrapped THEN (
                                SELECT j.user_key FROM jobs j
                                WHERE j.ready_at IS NOT NULL
                                  AND j.queue_id = lane.queue_id AND j.tenant_id = lane.tenant_id AND j.user_key >= ''
                                ORDER BY j.user_key
                                LIMIT 1
                            ) ELSE next.user_key END AS user_key
                    ) step
                    WHERE person.nth < bound.most
                      AND step.user_key IS NOT NULL
                      AND NOT (step.wrapped AND step.user_key > lane.last_user)
                )
                SELECT
                    own_jobs.places[:own.wanted + 8] || own_jobs.spares[:8] AS places,
                    least(cardinality(own_jobs.places), own.wanted) AS startable,
                    (SELECT p.user_key FROM person p ORDER BY p.nth DESC LIMIT 1) AS last_user,
                    tenant.user_slots = 0 OR (SELECT count(*) FROM person) <= (SELECT most FROM bound) AS all_users
                FROM (
                    SELECT
                        array_agg(w.place ORDER BY w.place) FILTER (WHERE w.nth <= w.free) AS places,
                        array_agg(w.place ORDER BY w.place) FILTER (WHERE w.nth > w.free) AS spares
                    FROM (
                        SELECT job_place(j.priority, j.id) AS place, j.nth, this_one.free
                        FROM person
                        CROSS JOIN LATERAL (
                            SELECT CASE WHEN person.user_key = '' THEN own.wanted ELSE least(tenant.user_slots - (
                                SELECT count(*) FROM in_use u
                                WHERE u.tenant_id = lane.tenant_id AND u.user_key = person.user_key
                            )::int, own.wanted) END AS free
                        ) this_one
                        CROSS JOIN LATERAL (
                            SELECT j.priority, j.id, row_number() OVER (ORDER BY j.user_key, j.priority, j.id) AS nth
                            FROM jobs j
                            WHERE j.ready_at IS NOT NULL
                              AND j.queue_id = lane.queue_id AND j.tenant_id = lane.tenant_id
                              AND j.user_key >= person.user_key AND j.user_key <= person.user_key
                            ORDER BY j.user_key, j.priority, j.id
                            LIMIT CASE WHEN this_one.free > 0 THEN this_one.free + 8 ELSE 0 END
                        ) j
                        WHERE person.nth > 0
                    ) w
                ) own_jobs
            ) by_user ON tenant.user_slots IS NOT NULL

-- The line of waiting jobs. Of all functions but the triggers', only front_by_user reads a table.

-- What the statements in jobs/sql compute with. Nothing here reads a table but front_by_user, and the triggers.

-- The versions of the rows that only dispatches write.
CREATE SEQUENCE door_seq;

-- Where a job stands in its lane, as one number.
CREATE FUNCTION job_place(priority smallint, id bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (priority::bigint << 58) + id;

-- Where a lane stands in its circle: at the end, or (head given) before all that stand behind that head, and behind those who came
-- so before. Numbers only grow; between two of them there is room for a million.
CREATE FUNCTION circle_place(number bigint, head bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN number - (head >> 20) < 1048576 THEN ((head >> 20) << 20) + number - (head >> 20)
    ELSE number << 20
END;

-- Counts, with each of these keys counted once more, or less.
CREATE FUNCTION tally(counts jsonb, keys text[], by int) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT coalesce(jsonb_object_agg(key, n), '{}')
    FROM (
        SELECT key, sum(n) AS n
        FROM (
            SELECT key, value::int AS n FROM jsonb_each_text(counts)
            UNION ALL
            SELECT key, by FROM unnest(keys) AS key WHERE key <> ''
        ) each_one
        GROUP BY key
        HAVING sum(n) > 0
    ) summed
);

-- The first jobs of a lane whose tenant limits its users (jobs/sql/claiming/claim/walk.sql). They take turns: it looks at 32 users from
-- `after` on, and at the full ones in between, and returns the places of their jobs in the order of the lane: first those that may
-- start, then some that replace locked ones of their user, which the claim cuts again. startable: how many of the first may start.
-- last_user, all_users: where the turns end, and whether all users of the lane were seen. If users have 0 slots, only jobs without
-- a user go.
CREATE TYPE lane_front AS (places bigint[], startable int, last_user text, all_users boolean);

CREATE FUNCTION front_by_user(
    of_queue bigint, of_tenant bigint, after text, users jsonb, most_of_user int, wanted int
) RETURNS lane_front LANGUAGE plpgsql STABLE AS $$
DECLARE
    person text := CASE WHEN most_of_user > 0 THEN after ELSE '' END;
    begin_at text := person;
    most_users int := CASE WHEN most_of_user > 0 THEN 32 + (SELECT count(*) FROM jsonb_object_keys(users)) ELSE 1 END;
    seen int := 0;
    wrapped boolean := most_of_user = 0;
    free int;
    found text;
    own bigint[];
    firsts bigint[] := '{}';
    spares bigint[] := '{}';
    result lane_front := ROW('{}'::bigint[], 0, '', true);
BEGIN
    WHILE wanted > 0 LOOP
        IF most_of_user = 0 THEN
            found := '';
        ELSE
            SELECT j.user_key INTO found FROM jobs j
            WHERE j.ready_at IS NOT NULL AND j.queue_id = of_queue AND j.tenant_id = of_tenant AND j.user_key > person
            ORDER BY j.user_key LIMIT 1;
            IF found IS NULL AND NOT wrapped THEN
                wrapped := true;
                SELECT j.user_key INTO found FROM jobs j
                WHERE j.ready_at IS NOT NULL AND j.queue_id = of_queue AND j.tenant_id = of_tenant AND j.user_key >= ''
                ORDER BY j.user_key LIMIT 1;
            END IF;
            EXIT WHEN found IS NULL OR (wrapped AND found > begin_at);
        END IF;
        IF seen = most_users THEN
            result.all_users := false;
            EXIT;
        END IF;
        seen := seen + 1;
        person := found;
        free := CASE
            WHEN person = '' THEN wanted
            ELSE least(most_of_user - coalesce((users ->> person)::int, 0), wanted)
        END;
        IF free > 0 THEN
            own := ARRAY(
                SELECT job_place(j.priority, j.id) FROM jobs j
                WHERE j.ready_at IS NOT NULL AND j.queue_id = of_queue AND j.tenant_id = of_tenant
                  AND j.user_key >= person AND j.user_key <= person
                ORDER BY j.user_key, j.priority, j.id
                LIMIT free + 8
            );
            firsts := firsts || own[:free];
            spares := spares || own[free + 1:];
        END IF;
        EXIT WHEN most_of_user = 0;
    END LOOP;
    result.startable := least(cardinality(firsts), wanted);
    result.places := ARRAY(SELECT place FROM unnest(firsts) AS place ORDER BY place LIMIT wanted + 8)
        || ARRAY(SELECT place FROM unnest(spares) AS place ORDER BY place LIMIT 8);
    result.last_user := person;
    RETURN result;
END
$$;

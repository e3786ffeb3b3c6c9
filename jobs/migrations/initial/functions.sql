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

-- Seconds, never negative, at most `most`.
CREATE FUNCTION worked(started timestamptz, ended timestamptz, most float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(least(greatest(extract(epoch FROM ended - started)::float8, 0), most), 0);

-- A ticket: the moment, in ms, of the claim that gave the slot.
CREATE FUNCTION in_ms(at timestamptz) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
RETURN (date_part('epoch', at) * 1000)::bigint;

-- The seconds that n jobs have had their slots, whose tickets add up to `tickets`.
CREATE FUNCTION worked_since(n int, tickets bigint, now timestamptz) RETURNS float8 LANGUAGE sql STABLE PARALLEL SAFE
RETURN greatest(n * in_ms(now) - tickets, 0) / 1000.0::float8;

-- A token bucket (the generic cell rate algorithm, ITU-T I.371) of `allowed` tokens that refills evenly over `seconds`, kept as the
-- moment when it will be full. Half a microsecond is forgiven: moments are rounded to whole ones. One that would be full only after
-- two windows was spent under a slower limit, and begins anew.
CREATE FUNCTION rate_full_at(seconds float8, full_at timestamptz, now timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN extract(epoch FROM full_at - now) < 2 * seconds THEN full_at END;

-- The tokens in it.
CREATE FUNCTION rate_tokens(allowed int, seconds float8, full_at timestamptz, now timestamptz) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN floor(
    allowed
    - greatest(coalesce(extract(epoch FROM rate_full_at(seconds, full_at, now) - now) - 0.0000005, 0), 0)::float8
    * allowed / seconds
);

-- When it has a token again.
CREATE FUNCTION rate_next_at(allowed int, seconds float8, full_at timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN full_at - (allowed - 1) * seconds / allowed * interval '1 second';

-- When it will be full again, after n further tokens.
CREATE FUNCTION rate_after(allowed int, seconds float8, full_at timestamptz, now timestamptz, n int) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN allowed IS NOT NULL THEN greatest(full_at, now) + n * seconds / allowed * interval '1 second' END;

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

-- How often each of the numbers from 0 up to `last` is in the list. An aggregate that counts one by one took three times as long.
CREATE FUNCTION histogram(buckets int[], last int) RETURNS int[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    counts int[] := array_fill(0, ARRAY[last + 1]);
    bucket int;
BEGIN
    FOREACH bucket IN ARRAY buckets LOOP
        IF bucket IS NOT NULL THEN
            counts[bucket + 1] := counts[bucket + 1] + 1;
        END IF;
    END LOOP;
    RETURN counts;
END
$$;

-- The sum of histograms, each so many times.
CREATE FUNCTION add_buckets(counts bigint[], more bigint[], times int) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF counts IS NULL THEN
        counts := array_fill(0::bigint, ARRAY[cardinality(more)]);
    END IF;
    FOR bucket IN 1 .. cardinality(more) LOOP
        counts[bucket] := counts[bucket] + more[bucket] * times;
    END LOOP;
    RETURN counts;
END
$$;
CREATE AGGREGATE sum_buckets(bigint[], int) (sfunc = add_buckets, stype = bigint[]);

-- Rate limits.

-- A token bucket (the generic cell rate algorithm, ITU-T I.371) of `allowed` tokens that refills evenly over `seconds`, kept as the
-- moment when it will be full. Half a microsecond is forgiven: moments are rounded to whole ones. One that would be full only after
-- two windows was spent under a slower limit, and begins anew.
CREATE FUNCTION rate_full_at(seconds float8, full_at timestamptz, now timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN extract(epoch FROM full_at - now) < 2 * seconds THEN full_at END;

-- When a bucket that was written under another limit is full under this one: as many tokens are missing, but not more than it can
-- hold. One that would be full only after two windows was written before the clock was set back, and begins anew.
CREATE FUNCTION rate_full_at(
    allowed int, seconds float8, full_at timestamptz, old_allowed int, old_seconds float8, now timestamptz
) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN coalesce((old_allowed, old_seconds) = (allowed, seconds), true) THEN CASE
        WHEN rate_full_at(seconds, full_at, now) IS NOT NULL THEN least(full_at, now + seconds * interval '1 second')
    END
    WHEN rate_full_at(old_seconds, full_at, now) > now THEN now + seconds / allowed * least(
        extract(epoch FROM full_at - now)::float8 * old_allowed / old_seconds, old_allowed, allowed
    ) * interval '1 second'
END;

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

-- How long slots were in use.

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

-- Change: add the work that each tenant got in a minute, and was entitled to, to its sums. The earlier sums fade: `short`
--         and `long` are the parts of them that stay. A tenant that has had nothing for hours is removed.
-- Who:    the recorder, once a minute, under the lock of its row in `recorded`. Locks: rows that only the recorder writes.
-- Index:  the primary key; all of the table.
WITH fresh AS (
    SELECT * FROM unnest(%(tenants)s::bigint[], %(got)s::float8[], %(entitled)s::float8[]) AS f (tenant_id, got, entitled)
),
summed AS (
    SELECT
        tenant_id,
        coalesce(s.got, 0) * %(short)s::float8 + coalesce(f.got, 0) AS got,
        coalesce(s.entitled, 0) * %(short)s::float8 + coalesce(f.entitled, 0) AS entitled,
        coalesce(s.got_hour, 0) * %(long)s::float8 + coalesce(f.got, 0) AS got_hour,
        coalesce(s.entitled_hour, 0) * %(long)s::float8 + coalesce(f.entitled, 0) AS entitled_hour
    FROM fresh f FULL JOIN tenant_shares s USING (tenant_id)
),
left_out AS (
    DELETE FROM tenant_shares s USING summed
    WHERE s.tenant_id = summed.tenant_id AND summed.got_hour + summed.entitled_hour < 0.01
)
INSERT INTO tenant_shares AS s (tenant_id, got, entitled, got_hour, entitled_hour)
SELECT tenant_id, got, entitled, got_hour, entitled_hour FROM summed WHERE got_hour + entitled_hour >= 0.01
ON CONFLICT (tenant_id) DO UPDATE
SET got = excluded.got,
    entitled = excluded.entitled,
    got_hour = excluded.got_hour,
    entitled_hour = excluded.entitled_hour
RETURNING got_hour, entitled_hour

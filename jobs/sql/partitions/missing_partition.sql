-- Reads:  the commands, in order, that give a table its partition for the moments from `starts` up to `ends`; none if it has
--         it. Who: the upkeep of partitions, under the lock of lock_partitions.
-- Locks of the commands: on the table SHARE UPDATE EXCLUSIVE, which no insert conflicts with (CREATE TABLE ... PARTITION OF
-- would lock out all sessions); on the default partition, which ATTACH reads, ACCESS EXCLUSIVE: it holds only rows that found no
-- partition. The rows that belong to the new partition move into it, as ATTACH demands. If rows of the present moment belong to it,
-- inserts first end or wait: an insert that waited at the default partition would fail on that partition's new bounds.
WITH parent AS (
    SELECT
        c.oid::regclass AS name,
        format('%%I.%%I', n.nspname, c.relname || to_char(%(starts)s::timestamptz AT TIME ZONE 'UTC', '_YYYYMMDD')) AS part,
        format('%%I.%%I', n.nspname, d.relname) AS rest,
        a.attname AS key,
        pg_get_userbyid(c.relowner) AS owner
    FROM pg_partitioned_table p
    JOIN pg_class c ON c.oid = p.partrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_class d ON d.oid = p.partdefid
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = p.partattrs[0]
    WHERE c.oid = %(parent)s::regclass
)
SELECT command.text
FROM parent
CROSS JOIN LATERAL (
    VALUES
        (1, format('LOCK TABLE ONLY %%s IN SHARE ROW EXCLUSIVE MODE', name)),
        (2, format('LOCK TABLE %%s IN ACCESS EXCLUSIVE MODE', rest)),
        (3, format('CREATE TABLE %%s (LIKE %%s INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', part, name)),
        (4, format('WITH moved AS (DELETE FROM %%s WHERE %%I >= %%L AND %%I < %%L RETURNING *) INSERT INTO %%s SELECT * FROM moved',
                   rest, key, %(starts)s::timestamptz, key, %(ends)s::timestamptz, part)),
        (5, format('ALTER TABLE %%s ATTACH PARTITION %%s FOR VALUES FROM (%%L) TO (%%L)',
                   name, part, %(starts)s::timestamptz, %(ends)s::timestamptz)),
        (6, format('ALTER TABLE %%s OWNER TO %%I', part, owner))  -- the table's, who migrates; we may be another
) AS command (number, text)
WHERE to_regclass(part) IS NULL
  AND (command.number > 1 OR clock_timestamp() >= %(starts)s::timestamptz AND clock_timestamp() < %(ends)s::timestamptz)  -- guard
ORDER BY command.number

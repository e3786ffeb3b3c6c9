-- name: lock_partitions
-- Locks:  the table, against others that change its partitions, until the end of the transaction; inserts go on. No lock of
--         this transaction is awaited longer than `patience` milliseconds. Who: the upkeep of partitions.
-- The command is returned as text, since no parameter can name a table.
SELECT format('LOCK TABLE ONLY %%s IN SHARE UPDATE EXCLUSIVE MODE', %(parent)s::regclass)
FROM set_config('lock_timeout', %(patience)s::text, true)

-- name: old_partitions
-- Reads:  the commands that remove all rows of a table before a moment: one for each partition that ends by then, and one
--         for the rows that found no partition. Who: the upkeep of partitions.
-- Locks of the commands: the table, ACCESS EXCLUSIVE, for as long as it takes to forget a partition: milliseconds.
SELECT format('DROP TABLE IF EXISTS %%I.%%I', n.nspname, c.relname)
FROM pg_inherits i
JOIN pg_class c ON c.oid = i.inhrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE i.inhparent = %(parent)s::regclass
  AND substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO [(]''([^'']+)''[)]')::timestamptz <= %(moment)s::timestamptz
UNION ALL
SELECT format('DELETE FROM %%s WHERE %%I < %%L', p.partdefid::regclass, a.attname, %(moment)s::timestamptz)
FROM pg_partitioned_table p
JOIN pg_attribute a ON a.attrelid = p.partrelid AND a.attnum = p.partattrs[0]
WHERE p.partrelid = %(parent)s::regclass AND p.partdefid <> 0

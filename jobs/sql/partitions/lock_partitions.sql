-- Locks:  the table, against others that change its partitions, until the end of the transaction; inserts go on. No lock of
--         this transaction is awaited longer than `patience` milliseconds. Who: the upkeep of partitions.
-- The command is returned as text, since no parameter can name a table.
SELECT format('LOCK TABLE ONLY %%s IN SHARE UPDATE EXCLUSIVE MODE', %(parent)s::regclass)
FROM set_config('lock_timeout', %(patience)s::text, true)

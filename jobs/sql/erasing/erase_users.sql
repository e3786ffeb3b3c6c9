-- Change: remove the users from the log of a tenant's attempts, and of who left its line. Who: an operator. Index: none; it
--         reads the whole log, eight days, because every attempt would pay for an index.
WITH others AS (UPDATE left_line SET user_key = '' WHERE tenant_id = %(tenant_id)s AND user_key <> '')
UPDATE attempts SET user_key = '' WHERE tenant_id = %(tenant_id)s AND user_key <> ''

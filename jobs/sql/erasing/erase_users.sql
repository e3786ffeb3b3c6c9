-- Change: remove the users from the log of a tenant's attempts. Who: an operator. Index: none; it reads the whole log, eight
--         days, because every attempt would pay for an index.
UPDATE attempts SET user_key = '' WHERE tenant_id = %(tenant_id)s AND user_key <> ''

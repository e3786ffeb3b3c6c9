-- Reads:  the minutes in which tenants were full, since an hour began, of all that were. Who: the operators' page of tenants,
--         kept for half a minute. Locks: none. Index: the primary key.
SELECT tenant_id, sum(minutes)::int FROM full_hours WHERE hour >= %(since)s::timestamptz GROUP BY tenant_id

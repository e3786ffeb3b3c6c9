-- Reads:  the newest sample's states of tenants, and its fairness. Who: health and metrics. Locks: none.
-- Index:  the primary key.
SELECT states, fairness FROM samples ORDER BY at DESC LIMIT 1

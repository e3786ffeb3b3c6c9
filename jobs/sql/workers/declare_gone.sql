-- Change: workers that stopped beating are declared gone; for good, a returning one registers anew. Who: recover.
-- `watched`: seconds for which the clock has seen time pass as it should. After an outage, or when the database's clock was
-- set, every last beat is old: each worker gets the time to beat again. `latest`: what the database's clock may show now if
-- it has not been set since the clock looked.
-- Locks:  the rows; one that is locked is just beating, or is left to the next look.
WITH
-- include shared/clock
silent AS MATERIALIZED (
    SELECT w.id FROM workers w CROSS JOIN clock
    WHERE w.gone_at IS NULL
      AND w.beat_at < clock.now - 3 * w.beat_interval * interval '1 second'  -- guard
      AND 3 * w.beat_interval < %(watched)s::float8  -- guard
      AND extract(epoch FROM clock.now) <= %(latest)s::float8  -- guard
    FOR NO KEY UPDATE OF w SKIP LOCKED
)
UPDATE workers w
SET gone_at = clock.now
FROM silent CROSS JOIN clock
WHERE w.id = silent.id
RETURNING w.name

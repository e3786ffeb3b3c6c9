-- Change: declare workers gone that stopped beating. This is final; a worker that returns registers anew. Who: recover.
-- `watched`: seconds for which the clock has seen time pass normally. After an outage, or when the database's clock was
-- set, all beats look old, so each worker gets time to beat again. `now`: when the clock looked; a standstill, or a change of the
-- database's clock, after that moment makes no beat old.
-- Locks:  the rows; it skips locked rows, whose workers may be beating now, until the next look.
WITH
-- include shared/clock
silent AS MATERIALIZED (
    SELECT w.id FROM workers w CROSS JOIN clock
    WHERE w.gone_at IS NULL
      AND w.beat_at < clock.now - 3 * w.beat_interval * interval '1 second'  -- guard
      AND 3 * w.beat_interval < %(watched)s::float8  -- guard
    FOR NO KEY UPDATE OF w SKIP LOCKED
)
UPDATE workers w
SET gone_at = clock.now, lost = true
FROM silent CROSS JOIN clock
WHERE w.id = silent.id
RETURNING w.name

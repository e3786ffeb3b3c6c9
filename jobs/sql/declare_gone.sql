-- Change: workers that stopped beating are declared gone; for good, a returning one registers anew. Who: recover.
UPDATE workers
SET gone_at = coalesce(%(now)s::timestamptz, clock_timestamp())
WHERE gone_at IS NULL
  AND beat_at < coalesce(%(now)s::timestamptz, clock_timestamp()) - %(live_for)s * interval '1 second'  -- guard
RETURNING name

-- Whether another worker than `worker` has lately recorded that it reaches the broker.
SELECT EXISTS (
    SELECT FROM workers w
    WHERE w.gone_at IS NULL
      AND w.id <> %(worker)s  -- guard
      AND w.cut_off_at IS NULL  -- guard
      AND w.beat_at > clock_timestamp() - 1.5 * w.beat_interval * interval '1 second'  -- guard
)

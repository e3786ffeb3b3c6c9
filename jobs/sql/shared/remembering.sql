-- The running attempt, and the key of the memory that it may read and write: its job type's, or its object's.
-- Index:  primary key; no lock. A stale holder finds none; nor does the holder of a lost job whose number another job has got:
--         after a failover to a standby that lacked the last commits, numbers and attempts come again, in other processes.
remembering AS MATERIALIZED (
    SELECT j.tenant_id, j.source_type, j.source_method, CASE WHEN %(of_object)s THEN j.source_id ELSE '' END AS source_id
    FROM jobs j
    WHERE j.id = %(id)s
      AND j.attempt = %(attempt)s  -- guard I3
      AND j.status = 'running'  -- guard I3
      AND (
          -- include shared/held_by
      )  -- guard I8
),

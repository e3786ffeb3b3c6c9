-- The turns of the queues that are awake, from the door's floor on, so that no older dead version is read. Outside the door: none.
        SELECT ctid AS row, * FROM queue_turns
        WHERE state <> 'asleep'
          AND version >= (SELECT floor FROM door ORDER BY version DESC LIMIT 1)
          AND current_setting('jobs.door', true) LIKE 'waiting%%'  -- guard I1
        ORDER BY version

-- The endpoints that have messages: one look for each, however many messages it has.
waits AS (
    (SELECT endpoint_id FROM webhook_messages ORDER BY endpoint_id LIMIT 1)
    UNION ALL
    SELECT (
        SELECT m.endpoint_id FROM webhook_messages m
        WHERE m.endpoint_id > waits.endpoint_id
        ORDER BY m.endpoint_id
        LIMIT 1
    )
    FROM waits
    WHERE waits.endpoint_id IS NOT NULL
),

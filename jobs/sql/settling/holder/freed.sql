-- The end of a statement that frees the slot.
-- include shared/freed
, logged AS (
    -- include shared/attempt
    FROM ended
)
SELECT id, attempt FROM ended

-- Change: the recorder begins a task, and locks its row until the end of the transaction. After a pause it goes on from where
--         it was, but looks back `reach` seconds at most. Returns how far the task was, and the time now.
-- Who:    the recorder; a second one waits here. Locks: the row.
WITH
-- include shared/clock
begun AS (
    INSERT INTO recorded AS r (task, upto, at)
    SELECT %(task)s, date_trunc('hour', clock.now - %(reach)s * interval '1 second', 'UTC'), clock.now FROM clock
    ON CONFLICT (task) DO UPDATE
    SET upto = greatest(r.upto, excluded.upto), at = excluded.at
    RETURNING upto, at
)
SELECT upto, at FROM begun

-- Change: the recorder begins a task, and locks its row until the end of the transaction. After a pause it goes on from where
--         it was, but looks back `pause` seconds at most; at first `reach`. Returns how far the task was, and the time now.
--         If the clock was set back since its last look, what it has counted repeats: it looks back `reach` seconds. Less
--         than a minute is no sign of that: a recorder that waited here for another one comes with an older `now`, and the
--         second look at each minute finds what repeats in so short a time.
-- Who:    the recorder; a second one waits here. Locks: the row.
WITH
-- include shared/clock
begun AS (
    INSERT INTO recorded AS r (task, upto, at)
    SELECT %(task)s, date_trunc('hour', clock.now - %(reach)s * interval '1 second', 'UTC'), clock.now FROM clock
    ON CONFLICT (task) DO UPDATE
    SET upto = CASE
            WHEN r.at > excluded.at + interval '1 minute' THEN excluded.upto
            ELSE greatest(r.upto, date_trunc('hour', excluded.at - %(pause)s * interval '1 second', 'UTC'))
        END,
        at = excluded.at
    RETURNING upto, at
)
SELECT upto, at FROM begun

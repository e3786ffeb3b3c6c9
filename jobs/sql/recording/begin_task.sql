-- Change: the recorder begins a task, and locks its row until the end of the transaction. After a pause it goes on from where
--         it was, but looks back `pause` seconds at most; at first `reach`. Returns how far the task was, and the time now.
--         If the clock was set back since its last look, it counts those hours again: it looks back `reach` seconds. A
--         difference below a minute is ignored: a recorder that waited for this lock has an older `now`. Each minute is
--         read twice, so nothing is lost.
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

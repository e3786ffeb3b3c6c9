-- Change: a clock runs and looks, now. Who: the leading clock, every few seconds, in its loop: no schedule holds that up.
-- Locks:  the row of its own in `recorded`. Index: primary key.
WITH
-- include shared/clock
-- include shared/missed
look AS (SELECT missed.upto, clock.now FROM missed CROSS JOIN clock)
INSERT INTO recorded AS r (task, upto, at)
SELECT 'missed', upto, now FROM look
ON CONFLICT (task) DO UPDATE SET upto = excluded.upto, at = excluded.at

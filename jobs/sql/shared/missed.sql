-- What was due before `missed.upto` was missed: no clock ran at its time. Since then a clock runs: the leader notes that it
-- looks (note_look), and two looks are no more than `on_time` seconds apart. However long a turn takes, it changes nothing.
-- A greater distance is a gap, or the database's clock was set; then only what is that late at most is on time.
missed AS MATERIALIZED (
    SELECT coalesce(r.upto, clock.now - %(on_time)s * interval '1 second') AS upto
    FROM clock
    LEFT JOIN recorded r ON r.task = 'missed'
    AND abs(extract(epoch FROM clock.now - r.at)) <= %(on_time)s  -- guard
),

-- Change: add a number to the repairs of a kind. Who: the clock. Locks: its row. Index: primary key.
INSERT INTO repairs AS r (kind, count, last_at) VALUES (%(kind)s, %(number)s, clock_timestamp())
ON CONFLICT (kind) DO UPDATE SET count = r.count + excluded.count, last_at = excluded.last_at

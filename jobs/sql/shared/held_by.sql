-- The holder of a running attempt, by its row: a process of a worker. The row does not name the seat, since no two seats of a
-- process get the same attempt (store/rows.py). A statement that fences adds the attempt, the status and its guard.
worker = %(worker)s::uuid AND worker_pid = %(pid)s::int

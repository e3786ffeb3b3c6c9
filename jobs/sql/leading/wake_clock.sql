-- Change: wake the leading clock, which then reads the next moment. Who: a transaction that made a new moment due.
NOTIFY jobs_due

-- Reads:  the isolation level of this transaction. Who: a system check (jobs/checks/databases.py). Locks: none.
SELECT current_setting('transaction_isolation') AS level

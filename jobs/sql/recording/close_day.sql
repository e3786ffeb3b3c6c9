-- Change: a day is billed for all that ended by its end, since `since`, and was billed for no day yet: mostly what ended on
--         it, and rarely what was found later, or ended while the clock was set back.
-- Who:    the recorder, in the transaction that marks the day as closed, under the lock of the hours' row in `recorded`.
-- Locks:  none. Index: all hours of some days.
WITH
-- include shared/unbilled
INSERT INTO usage_days (
    tenant_id, day, queue_id, source_type, source_method, outcome, ended_on, attempts, microseconds
)
SELECT tenant_id, %(day)s::date, queue_id, source_type, source_method, outcome, ended_on, attempts, microseconds
FROM unbilled

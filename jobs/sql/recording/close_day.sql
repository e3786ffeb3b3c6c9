-- Change: a day is billed for all that ended by its end, since `since`, and was billed for no day yet: mostly what ended on
--         it, and rarely what was found later, or ended while the clock was set back.
--         Returns by queue, for all tenants, the attempts that had a wait target, and those that kept it.
-- Who:    the recorder, in the transaction that marks the day as closed, under the lock of the hours' row in `recorded`.
-- Locks:  none. Index: all hours of some days.
WITH
-- include shared/unbilled
, closed AS (
    INSERT INTO usage_days (
        tenant_id, day, queue_id, source_type, source_method, outcome, ended_on, attempts, microseconds, targeted, in_time, units
    )
    SELECT tenant_id, %(day)s::date, queue_id, source_type, source_method, outcome, ended_on, attempts, microseconds, targeted, in_time, units
    FROM unbilled
    RETURNING queue_id, targeted, in_time
)
SELECT queue_id, sum(targeted)::bigint, sum(in_time)::bigint FROM closed GROUP BY queue_id HAVING sum(targeted) > 0

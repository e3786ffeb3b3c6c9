-- Change: delete the records of notifiers that are not set up any more. Who: the clock's upkeep. A notifier that returns
--         later reports all present dead jobs once more.
DELETE FROM death_notices
WHERE notifier <> ALL (%(notifiers)s::text[])  -- guard
  AND upto < coalesce(%(now)s::timestamptz, clock_timestamp()) - %(seconds)s * interval '1 second'  -- guard

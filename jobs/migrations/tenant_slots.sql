-- Tenants may hold another number of slots in a queue: its full lanes may open (jobs/sql/claiming/fold.sql). A new name can do that, too:
-- tenants have slots by the names of queues. The row has no tenant: none has the number 0.
CREATE FUNCTION queue_slots_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO freed_slots (xid, tenant_id, job_id, queue_id)
    VALUES (pg_current_xact_id()::text::bigint, 0, -NEW.id, NEW.id)
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

CREATE TRIGGER queue_slots_changed AFTER UPDATE OF name, tenant_slots ON queues
FOR EACH ROW WHEN ((OLD.name, OLD.tenant_slots) IS DISTINCT FROM (NEW.name, NEW.tenant_slots))
EXECUTE FUNCTION queue_slots_changed();

CREATE OR REPLACE FUNCTION limits_of(said jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
SELECT jsonb_object_agg(key, value) FROM jsonb_each(said) WHERE key IN (
    'num_slots', 'burst_slots', 'user_slots', 'queue_slots', 'weight', 'rate_limit', 'rate_window', 'paused', 'pool', 'concurrency',
    'tenant_slots', 'name', 'source_type', 'source_method'
)
$$;

-- From now on the record has the names of queues: tenants have slots by them.
INSERT INTO limit_changes (at, kind, subject, limits)
SELECT clock_timestamp(), 'queue', id, limits_of(to_jsonb(one)) FROM queues one;

-- Whoever changes a limit, by whatever SQL, notes it. The limits that there are begin the record.
CREATE FUNCTION limits_of(said jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
SELECT jsonb_object_agg(key, value) FROM jsonb_each(said) WHERE key IN (
    'num_slots', 'burst_slots', 'user_slots', 'weight', 'rate_limit', 'rate_window', 'paused', 'pool', 'concurrency',
    'source_type', 'source_method'
)
$$;

CREATE FUNCTION limits_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'UPDATE' OR limits_of(to_jsonb(OLD)) <> limits_of(to_jsonb(NEW)) THEN
        INSERT INTO limit_changes (at, kind, subject, limits)
        VALUES (
            clock_timestamp(), TG_ARGV[0], (to_jsonb(coalesce(NEW, OLD)) ->> TG_ARGV[1])::bigint,
            CASE WHEN TG_OP <> 'DELETE' THEN limits_of(to_jsonb(NEW)) END
        );
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER limits_changed AFTER INSERT OR UPDATE OR DELETE ON tenant_queues
FOR EACH ROW EXECUTE FUNCTION limits_changed('tenant', 'tenant_id');
CREATE TRIGGER limits_changed AFTER INSERT OR UPDATE OR DELETE ON queues
FOR EACH ROW EXECUTE FUNCTION limits_changed('queue', 'id');
CREATE TRIGGER limits_changed AFTER INSERT OR UPDATE OR DELETE ON paused_job_types
FOR EACH ROW EXECUTE FUNCTION limits_changed('job_type', 'id');

INSERT INTO limit_changes (at, kind, subject, limits)
SELECT clock_timestamp(), 'tenant', tenant_id, limits_of(to_jsonb(one)) FROM tenant_queues one
UNION ALL
SELECT clock_timestamp(), 'queue', id, limits_of(to_jsonb(one)) FROM queues one
UNION ALL
SELECT clock_timestamp(), 'job_type', id, limits_of(to_jsonb(one)) FROM paused_job_types one;

-- A claim or a job that follows keeps the slot; whoever leaves the line without one is noted.
CREATE FUNCTION left_line() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO left_line (
        at, ready_at, job_id, tenant_id, queue_id, priority, user_key, source_type, source_method, why
    )
    VALUES (
        clock_timestamp(), OLD.ready_at, OLD.id, OLD.tenant_id, OLD.queue_id, OLD.priority, OLD.user_key, OLD.source_type,
        OLD.source_method, coalesce(NEW.reason, NEW.status)
    );
    RETURN NULL;
END
$$;

CREATE TRIGGER left_line AFTER UPDATE OF ready_at ON jobs
FOR EACH ROW WHEN (NEW.slot IS NULL AND NEW.ready_at IS NULL AND OLD.ready_at IS NOT NULL)
EXECUTE FUNCTION left_line();

-- Whoever ends, revives or deletes a job that others wait for, or that belongs to a batch, leaves news for the reader
-- of ends (jobs/sql/awaiting/).
CREATE FUNCTION awaited_job_ended() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    now text := 'cancelled';
    awaited boolean := OLD.awaited;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        now := NEW.status;
        awaited := NEW.awaited;
    END IF;
    INSERT INTO job_ends (xid, job_id, batch_id, success, error, dead, cancelled)
    VALUES (
        pg_current_xact_id()::text::bigint, CASE WHEN awaited THEN OLD.id END, OLD.batch_id,
        (now = 'success')::int - (OLD.status = 'success')::int, (now = 'error')::int - (OLD.status = 'error')::int,
        (now = 'dead')::int - (OLD.status = 'dead')::int, (now = 'cancelled')::int - (OLD.status = 'cancelled')::int
    );
    RETURN NULL;
END
$$;

CREATE TRIGGER awaited_job_ended AFTER UPDATE OF status ON jobs
FOR EACH ROW WHEN (
    (NEW.awaited OR NEW.batch_id IS NOT NULL) AND OLD.status <> NEW.status
    AND (OLD.end_time IS NOT NULL OR NEW.end_time IS NOT NULL)
)
EXECUTE FUNCTION awaited_job_ended();

CREATE TRIGGER awaited_job_deleted AFTER DELETE ON jobs
FOR EACH ROW WHEN ((OLD.awaited OR OLD.batch_id IS NOT NULL) AND OLD.end_time IS NULL)
EXECUTE FUNCTION awaited_job_ended();

-- The usage of a day that is closed is final. Whoever writes usage waits for one who closes a day: it holds this row.
CREATE FUNCTION usage_is_final() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM recorded WHERE task = 'hours' FOR SHARE;
    IF TG_OP <> 'INSERT' AND EXISTS (SELECT FROM closed_days WHERE day = OLD.day) THEN
        RAISE restrict_violation USING MESSAGE = format('The usage of %s is final.', OLD.day);
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.day <= (SELECT max(day) FROM closed_days) THEN
        RAISE restrict_violation USING MESSAGE = format('The usage of %s is final.', NEW.day);
    END IF;
    RETURN coalesce(NEW, OLD);
END
$$;

CREATE TRIGGER usage_is_final BEFORE INSERT OR UPDATE OR DELETE ON usage_days
FOR EACH ROW EXECUTE FUNCTION usage_is_final();

CREATE TRIGGER slot_peak_is_final BEFORE INSERT OR UPDATE OR DELETE ON slot_peaks
FOR EACH ROW EXECUTE FUNCTION usage_is_final();

-- Whoever ends a job that its tenant's system is told of leaves an event for the clock (jobs/engine/webhooks/announce.py).
CREATE FUNCTION announced_job_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO webhook_events (tenant_id, job_id, attempt, status, ended_at)
    VALUES (NEW.tenant_id, NEW.id, NEW.attempt, NEW.status, NEW.end_time);
    RETURN NULL;
END
$$;

CREATE TRIGGER announced_job_ended AFTER UPDATE OF status ON jobs
FOR EACH ROW WHEN (NEW.announced AND OLD.end_time IS NULL AND NEW.end_time IS NOT NULL)
EXECUTE FUNCTION announced_job_ended();

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

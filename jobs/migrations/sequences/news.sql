-- Whoever ends, revives or deletes a job of a sequence leaves news for the reader of ends, as with jobs that others wait for
-- (who stores one: jobs/sql/awaiting/short.sql). The news names the sequence, which a deleted row no longer does.
CREATE OR REPLACE FUNCTION awaited_job_ended() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    now text := 'cancelled';
    awaited boolean := OLD.awaited;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        now := NEW.status;
        awaited := NEW.awaited;
    END IF;
    INSERT INTO job_ends (xid, job_id, batch_id, tenant_id, sequence, success, error, dead, cancelled)
    VALUES (
        pg_current_xact_id()::text::bigint, CASE WHEN awaited THEN OLD.id END, OLD.batch_id,
        CASE WHEN OLD.sequence IS NOT NULL THEN OLD.tenant_id END, OLD.sequence,
        (now = 'success')::int - (OLD.status = 'success')::int, (now = 'error')::int - (OLD.status = 'error')::int,
        (now = 'dead')::int - (OLD.status = 'dead')::int, (now = 'cancelled')::int - (OLD.status = 'cancelled')::int
    );
    RETURN NULL;
END
$$;

DROP TRIGGER awaited_job_ended ON jobs;
CREATE TRIGGER awaited_job_ended AFTER UPDATE OF status ON jobs
FOR EACH ROW WHEN (
    (NEW.awaited OR NEW.batch_id IS NOT NULL OR OLD.sequence IS NOT NULL) AND OLD.status <> NEW.status
    AND (OLD.end_time IS NOT NULL OR NEW.end_time IS NOT NULL)
)
EXECUTE FUNCTION awaited_job_ended();

-- A dead job may stop its sequence until it is deleted.
CREATE FUNCTION sequence_left() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO job_ends (xid, tenant_id, sequence)
    VALUES (pg_current_xact_id()::text::bigint, OLD.tenant_id, OLD.sequence);
    RETURN NULL;
END
$$;

CREATE TRIGGER sequence_left AFTER DELETE ON jobs
FOR EACH ROW WHEN (OLD.sequence IS NOT NULL AND (OLD.end_time IS NULL OR OLD.died_at IS NOT NULL))
EXECUTE FUNCTION sequence_left();

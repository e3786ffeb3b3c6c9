-- The triggers as they were before.
DROP TRIGGER sequence_left ON jobs;
DROP FUNCTION sequence_left;
DROP TRIGGER awaited_job_ended ON jobs;
CREATE OR REPLACE FUNCTION awaited_job_ended() RETURNS trigger LANGUAGE plpgsql AS $$
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

-- Whoever ends a job stores a message for each endpoint that wants it, in the same transaction (jobs/engine/webhooks/).
CREATE SEQUENCE webhook_seq;

CREATE FUNCTION announced_job_ended() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    ended ALIAS FOR NEW;
    number bigint := nextval('webhook_seq');
BEGIN
    INSERT INTO webhook_messages (endpoint_id, event, ended_at, user_key, data)
    SELECT
        e.id, number, ended.end_time, ended.user_key,
        jsonb_build_object(
            'id', ended.id, 'status', ended.status, 'attempt', ended.attempt, 'source_type', ended.source_type,
            'source_id', ended.source_id, 'source_method', ended.source_method,
            'batch', CASE WHEN b.id IS NOT NULL THEN jsonb_build_object('id', b.id, 'name', b.name) END,
            'error', CASE WHEN ended.status IN ('error', 'dead') THEN split_part(ended.last_error, ': ', 1) ELSE '' END
        )
    FROM webhook_endpoints e
    LEFT JOIN batches b ON b.id = ended.batch_id
    WHERE e.tenant_id = ended.tenant_id
      AND e.off_at IS NULL
      AND e.created_at <= ended.created_at
      AND (e.types = '{}' OR ended.source_type || '.' || ended.source_method = ANY (e.types))
      AND (e.batches = '{}' OR b.name = ANY (e.batches));
    RETURN NULL;
END
$$;

CREATE TRIGGER announced_job_ended AFTER UPDATE OF status ON jobs
FOR EACH ROW WHEN (NEW.announced AND OLD.end_time IS NULL AND NEW.end_time IS NOT NULL)
EXECUTE FUNCTION announced_job_ended();

-- What the door must be told, whoever writes.

-- Limits have changed: a lane may open, and the books may not know whose the slots are (jobs/sql/claiming/fold.sql).
CREATE FUNCTION tenant_limits_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO freed_slots (xid, tenant_id, job_id)
    VALUES (pg_current_xact_id()::text::bigint, NEW.tenant_id, 0)
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

CREATE TRIGGER tenant_limits_changed AFTER INSERT OR UPDATE ON tenant_queues
FOR EACH ROW EXECUTE FUNCTION tenant_limits_changed();

-- With its tenant, say, a job is deleted while it holds a slot; that must leave the books, too.
CREATE FUNCTION slot_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO freed_slots (xid, tenant_id, job_id, queue_id, user_key, slot, ticket, seconds, timeout, followed)
    VALUES (
        pg_current_xact_id()::text::bigint, OLD.tenant_id, OLD.id, OLD.queue_id, OLD.user_key, OLD.slot, OLD.ticket,
        coalesce(date_part('epoch', clock_timestamp() - OLD.start_time), 0), OLD.timeout, OLD.followed
    )
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

CREATE TRIGGER slot_deleted AFTER DELETE ON jobs FOR EACH ROW WHEN (OLD.slot IS NOT NULL) EXECUTE FUNCTION slot_deleted();

-- A database of 0.1.0, as pg_dump wrote it: jobs in every status. It is never changed.
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE TYPE public.lane_front AS (
	places bigint[],
	startable integer,
	last_user text,
	all_users boolean
);
CREATE FUNCTION public.add_buckets(counts bigint[], more bigint[], times integer) RETURNS bigint[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
BEGIN
    IF counts IS NULL THEN
        counts := array_fill(0::bigint, ARRAY[cardinality(more)]);
    END IF;
    FOR bucket IN 1 .. cardinality(more) LOOP
        counts[bucket] := counts[bucket] + more[bucket] * times;
    END LOOP;
    RETURN counts;
END
$$;
CREATE FUNCTION public.circle_place(number bigint, head bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN ((number - (head >> 20)) < 1048576) THEN ((((head >> 20) << 20) + number) - (head >> 20)) ELSE (number << 20) END;
CREATE FUNCTION public.front_by_user(of_queue bigint, of_tenant bigint, after text, users jsonb, most_of_user integer, wanted integer) RETURNS public.lane_front
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
    person text := CASE WHEN most_of_user > 0 THEN after ELSE '' END;
    begin_at text := person;
    most_users int := CASE WHEN most_of_user > 0 THEN 32 + (SELECT count(*) FROM jsonb_object_keys(users)) ELSE 1 END;
    seen int := 0;
    wrapped boolean := most_of_user = 0;
    free int;
    found text;
    own bigint[];
    firsts bigint[] := '{}';
    spares bigint[] := '{}';
    result lane_front := ROW('{}'::bigint[], 0, '', true);
BEGIN
    WHILE wanted > 0 LOOP
        IF most_of_user = 0 THEN
            found := '';
        ELSE
            SELECT j.user_key INTO found FROM jobs j
            WHERE j.ready_at IS NOT NULL AND j.queue_id = of_queue AND j.tenant_id = of_tenant AND j.user_key > person
            ORDER BY j.user_key LIMIT 1;
            IF found IS NULL AND NOT wrapped THEN
                wrapped := true;
                SELECT j.user_key INTO found FROM jobs j
                WHERE j.ready_at IS NOT NULL AND j.queue_id = of_queue AND j.tenant_id = of_tenant AND j.user_key >= ''
                ORDER BY j.user_key LIMIT 1;
            END IF;
            EXIT WHEN found IS NULL OR (wrapped AND found > begin_at);
        END IF;
        IF seen = most_users THEN
            result.all_users := false;
            EXIT;
        END IF;
        seen := seen + 1;
        person := found;
        free := CASE
            WHEN person = '' THEN wanted
            ELSE least(most_of_user - coalesce((users ->> person)::int, 0), wanted)
        END;
        IF free > 0 THEN
            own := ARRAY(
                SELECT job_place(j.priority, j.id) FROM jobs j
                WHERE j.ready_at IS NOT NULL AND j.queue_id = of_queue AND j.tenant_id = of_tenant
                  AND j.user_key >= person AND j.user_key <= person
                ORDER BY j.user_key, j.priority, j.id
                LIMIT free + 8
            );
            firsts := firsts || own[:free];
            spares := spares || own[free + 1:];
        END IF;
        EXIT WHEN most_of_user = 0;
    END LOOP;
    result.startable := least(cardinality(firsts), wanted);
    result.places := ARRAY(SELECT place FROM unnest(firsts) AS place ORDER BY place LIMIT wanted + 8)
        || ARRAY(SELECT place FROM unnest(spares) AS place ORDER BY place LIMIT 8);
    result.last_user := person;
    RETURN result;
END
$$;
CREATE FUNCTION public.histogram(buckets integer[], last integer) RETURNS integer[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
DECLARE
    counts int[] := array_fill(0, ARRAY[last + 1]);
    bucket int;
BEGIN
    FOREACH bucket IN ARRAY buckets LOOP
        IF bucket IS NOT NULL THEN
            counts[bucket + 1] := counts[bucket + 1] + 1;
        END IF;
    END LOOP;
    RETURN counts;
END
$$;
CREATE FUNCTION public.in_ms(at timestamp with time zone) RETURNS bigint
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN ((date_part('epoch'::text, at) * (1000)::double precision))::bigint;
CREATE FUNCTION public.job_place(priority smallint, id bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (((priority)::bigint << 58) + id);
CREATE FUNCTION public.rate_after(allowed integer, seconds double precision, full_at timestamp with time zone, now timestamp with time zone, n integer) RETURNS timestamp with time zone
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE WHEN (allowed IS NOT NULL) THEN (GREATEST(full_at, now) + ((((n)::double precision * seconds) / (allowed)::double precision) * '00:00:01'::interval)) ELSE NULL::timestamp with time zone END;
CREATE FUNCTION public.rate_full_at(seconds double precision, full_at timestamp with time zone, now timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN ((EXTRACT(epoch FROM (full_at - now)))::double precision < ((2)::double precision * seconds)) THEN full_at ELSE NULL::timestamp with time zone END;
CREATE FUNCTION public.rate_next_at(allowed integer, seconds double precision, full_at timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (full_at - (((((allowed - 1))::double precision * seconds) / (allowed)::double precision) * '00:00:01'::interval));
CREATE FUNCTION public.rate_tokens(allowed integer, seconds double precision, full_at timestamp with time zone, now timestamp with time zone) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN floor(((allowed)::double precision - (((GREATEST(COALESCE((EXTRACT(epoch FROM (public.rate_full_at(seconds, full_at, now) - now)) - 0.0000005), (0)::numeric), (0)::numeric))::double precision * (allowed)::double precision) / seconds)));
CREATE FUNCTION public.slot_deleted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION public.tally(counts jsonb, keys text[], by integer) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (SELECT COALESCE(jsonb_object_agg(summed.key, summed.n), '{}'::jsonb) AS "coalesce" FROM (SELECT each_one.key, sum(each_one.n) AS n FROM (SELECT jsonb_each_text.key, (jsonb_each_text.value)::integer AS n FROM jsonb_each_text(tally.counts) jsonb_each_text(key, value) UNION ALL SELECT key.key, tally.by AS by FROM unnest(tally.keys) key(key) WHERE (key.key <> ''::text)) each_one GROUP BY each_one.key HAVING (sum(each_one.n) > 0)) summed);
CREATE FUNCTION public.tenant_limits_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO freed_slots (xid, tenant_id, job_id)
    VALUES (pg_current_xact_id()::text::bigint, NEW.tenant_id, 0)
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE FUNCTION public.worked(started timestamp with time zone, ended timestamp with time zone, most double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN COALESCE(LEAST(GREATEST((EXTRACT(epoch FROM (ended - started)))::double precision, (0)::double precision), most), (0)::double precision);
CREATE FUNCTION public.worked_since(n integer, tickets bigint, now timestamp with time zone) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN ((GREATEST(((n * public.in_ms(now)) - tickets), (0)::bigint))::double precision / (1000.0)::double precision);
CREATE AGGREGATE public.sum_buckets(bigint[], integer) (
    SFUNC = public.add_buckets,
    STYPE = bigint[]
);
CREATE TABLE public.failed_attempts (
    id bigint NOT NULL,
    attempt integer NOT NULL,
    error_class character varying(200) NOT NULL,
    error text NOT NULL,
    traceback text NOT NULL,
    worker uuid,
    queued_at timestamp with time zone,
    start_time timestamp with time zone,
    end_time timestamp with time zone NOT NULL,
    job_id bigint NOT NULL,
    CONSTRAINT failed_attempts_attempt_check CHECK ((attempt >= 0))
);
CREATE TABLE public.job_history (
    id bigint CONSTRAINT jobs_id_not_null NOT NULL,
    priority smallint CONSTRAINT jobs_priority_not_null NOT NULL,
    user_key character varying(100) CONSTRAINT jobs_user_key_not_null NOT NULL,
    source_type character varying(200) CONSTRAINT jobs_source_type_not_null NOT NULL,
    source_id character varying(100),
    source_method character varying(100) CONSTRAINT jobs_source_method_not_null NOT NULL,
    args jsonb CONSTRAINT jobs_args_not_null NOT NULL,
    dedup_key uuid,
    status character varying(10) CONSTRAINT jobs_status_not_null NOT NULL,
    slot integer,
    ticket bigint,
    attempt integer CONSTRAINT jobs_attempt_not_null NOT NULL,
    crashes smallint CONSTRAINT jobs_crashes_not_null NOT NULL,
    barred boolean CONSTRAINT jobs_barred_not_null NOT NULL,
    retries integer CONSTRAINT jobs_retries_not_null NOT NULL,
    max_retries integer,
    timeout double precision,
    memory integer,
    worker uuid,
    worker_pid integer,
    created_at timestamp with time zone CONSTRAINT jobs_created_at_not_null NOT NULL,
    due_at timestamp with time zone,
    ready_at timestamp with time zone,
    waited_since timestamp with time zone,
    queued_at timestamp with time zone,
    handed_at timestamp with time zone,
    start_time timestamp with time zone,
    end_time timestamp with time zone NOT NULL,
    cancel_requested_at timestamp with time zone,
    died_at timestamp with time zone,
    progress double precision,
    progress_note character varying(200) CONSTRAINT jobs_progress_note_not_null NOT NULL,
    stats jsonb CONSTRAINT jobs_stats_not_null NOT NULL,
    last_error text CONSTRAINT jobs_last_error_not_null NOT NULL,
    result_expires_at timestamp with time zone,
    peak_memory integer,
    trace_parent character varying(55),
    result_bytes integer,
    tenant_id bigint CONSTRAINT jobs_tenant_id_not_null NOT NULL,
    queue_id bigint CONSTRAINT jobs_queue_id_not_null NOT NULL,
    failed_attempts jsonb NOT NULL,
    CONSTRAINT job_history_ended CHECK (((status)::text = ANY ((ARRAY['success'::character varying, 'error'::character varying, 'cancelled'::character varying])::text[])))
)
PARTITION BY RANGE (end_time);
CREATE VIEW public.all_failed_attempts AS
 SELECT failed_attempts.job_id,
    failed_attempts.attempt,
    failed_attempts.error_class,
    failed_attempts.error,
    failed_attempts.traceback,
    failed_attempts.worker,
    failed_attempts.queued_at,
    failed_attempts.start_time,
    failed_attempts.end_time
   FROM public.failed_attempts
UNION ALL
 SELECT h.id AS job_id,
    a.attempt,
    a.error_class,
    a.error,
    a.traceback,
    a.worker,
    a.queued_at,
    a.start_time,
    a.end_time
   FROM (public.job_history h
     CROSS JOIN LATERAL jsonb_to_recordset(h.failed_attempts) a(attempt integer, error_class character varying, error text, traceback text, worker uuid, queued_at timestamp with time zone, start_time timestamp with time zone, end_time timestamp with time zone));
CREATE TABLE public.jobs (
    id bigint NOT NULL,
    priority smallint NOT NULL,
    user_key character varying(100) NOT NULL,
    source_type character varying(200) NOT NULL,
    source_id character varying(100),
    source_method character varying(100) NOT NULL,
    args jsonb NOT NULL,
    dedup_key uuid,
    status character varying(10) NOT NULL,
    slot integer,
    ticket bigint,
    attempt integer NOT NULL,
    crashes smallint NOT NULL,
    barred boolean DEFAULT false NOT NULL,
    retries integer NOT NULL,
    max_retries integer,
    timeout double precision,
    memory integer,
    worker uuid,
    worker_pid integer,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    due_at timestamp with time zone,
    ready_at timestamp with time zone,
    waited_since timestamp with time zone,
    queued_at timestamp with time zone,
    handed_at timestamp with time zone,
    start_time timestamp with time zone,
    end_time timestamp with time zone,
    cancel_requested_at timestamp with time zone,
    died_at timestamp with time zone,
    progress double precision,
    progress_note character varying(200) NOT NULL,
    stats jsonb NOT NULL,
    last_error text NOT NULL,
    result_expires_at timestamp with time zone,
    peak_memory integer,
    trace_parent character varying(55),
    result_bytes integer,
    followed integer DEFAULT 0 NOT NULL,
    tenant_id bigint NOT NULL,
    queue_id bigint NOT NULL,
    CONSTRAINT jobs_attempt_check CHECK ((attempt >= 0)),
    CONSTRAINT jobs_crashes_check CHECK ((crashes >= 0)),
    CONSTRAINT jobs_dead_has_moment CHECK ((((died_at IS NOT NULL) AND ((status)::text = 'dead'::text)) OR ((NOT ((status)::text = 'dead'::text)) AND (died_at IS NULL)))),
    CONSTRAINT jobs_holder_has_attempt CHECK (((NOT ((status)::text = ANY ((ARRAY['queued'::character varying, 'running'::character varying])::text[]))) OR (attempt >= 1))),
    CONSTRAINT jobs_max_retries_check CHECK ((max_retries >= 0)),
    CONSTRAINT jobs_memory_check CHECK ((memory >= 0)),
    CONSTRAINT jobs_no_half_state CHECK ((((due_at IS NOT NULL) AND (end_time IS NULL) AND (ready_at IS NULL) AND (slot IS NULL) AND ((status)::text = 'scheduled'::text)) OR ((due_at IS NULL) AND (end_time IS NULL) AND (ready_at IS NOT NULL) AND (slot IS NULL) AND ((status)::text = 'created'::text)) OR ((due_at IS NULL) AND (end_time IS NULL) AND (ready_at IS NULL) AND (slot IS NOT NULL) AND ((status)::text = ANY ((ARRAY['queued'::character varying, 'running'::character varying])::text[]))) OR ((due_at IS NULL) AND (end_time IS NOT NULL) AND (ready_at IS NULL) AND (slot IS NULL) AND ((status)::text = ANY ((ARRAY['cancelled'::character varying, 'dead'::character varying, 'error'::character varying, 'success'::character varying])::text[]))))),
    CONSTRAINT jobs_priority_0_to_10 CHECK ((priority <= 10)),
    CONSTRAINT jobs_priority_check CHECK ((priority >= 0)),
    CONSTRAINT jobs_result_bytes_check CHECK ((result_bytes >= 0)),
    CONSTRAINT jobs_retries_check CHECK ((retries >= 0)),
    CONSTRAINT jobs_running_has_worker CHECK (((NOT ((status)::text = 'running'::text)) OR ((start_time IS NOT NULL) AND (worker IS NOT NULL)))),
    CONSTRAINT jobs_slot_check CHECK ((slot >= 0)),
    CONSTRAINT jobs_slot_from_1 CHECK (((slot IS NULL) OR (slot >= 1))),
    CONSTRAINT jobs_slot_has_ticket CHECK (((slot IS NULL) OR (ticket IS NOT NULL))),
    CONSTRAINT jobs_worker_pid_check CHECK ((worker_pid >= 0))
);
CREATE VIEW public.all_jobs AS
 SELECT jobs.id,
    jobs.tenant_id,
    jobs.queue_id,
    jobs.priority,
    jobs.user_key,
    jobs.source_type,
    jobs.source_id,
    jobs.source_method,
    jobs.args,
    jobs.dedup_key,
    jobs.status,
    jobs.slot,
    jobs.ticket,
    jobs.attempt,
    jobs.crashes,
    jobs.barred,
    jobs.retries,
    jobs.max_retries,
    jobs.timeout,
    jobs.memory,
    jobs.worker,
    jobs.worker_pid,
    jobs.created_at,
    jobs.due_at,
    jobs.ready_at,
    jobs.queued_at,
    jobs.handed_at,
    jobs.start_time,
    jobs.end_time,
    jobs.cancel_requested_at,
    jobs.died_at,
    jobs.progress,
    jobs.progress_note,
    jobs.stats,
    jobs.last_error,
    jobs.result_expires_at,
    jobs.result_bytes,
    jobs.waited_since,
    jobs.peak_memory,
    jobs.trace_parent
   FROM public.jobs
UNION ALL
 SELECT job_history.id,
    job_history.tenant_id,
    job_history.queue_id,
    job_history.priority,
    job_history.user_key,
    job_history.source_type,
    job_history.source_id,
    job_history.source_method,
    job_history.args,
    job_history.dedup_key,
    job_history.status,
    job_history.slot,
    job_history.ticket,
    job_history.attempt,
    job_history.crashes,
    job_history.barred,
    job_history.retries,
    job_history.max_retries,
    job_history.timeout,
    job_history.memory,
    job_history.worker,
    job_history.worker_pid,
    job_history.created_at,
    job_history.due_at,
    job_history.ready_at,
    job_history.queued_at,
    job_history.handed_at,
    job_history.start_time,
    job_history.end_time,
    job_history.cancel_requested_at,
    job_history.died_at,
    job_history.progress,
    job_history.progress_note,
    job_history.stats,
    job_history.last_error,
    job_history.result_expires_at,
    job_history.result_bytes,
    job_history.waited_since,
    job_history.peak_memory,
    job_history.trace_parent
   FROM public.job_history;
CREATE TABLE public.arrivals (
    xid bigint NOT NULL,
    queue_id bigint NOT NULL,
    tenant_id bigint NOT NULL,
    head bigint,
    jobs integer NOT NULL
);
CREATE TABLE public.attempts (
    ended_at timestamp with time zone NOT NULL,
    start_time timestamp with time zone NOT NULL,
    queued_at timestamp with time zone,
    waited_since timestamp with time zone,
    job_id bigint NOT NULL,
    tenant_id bigint NOT NULL,
    queue_id bigint NOT NULL,
    worker uuid,
    attempt integer NOT NULL,
    result_bytes integer,
    peak_memory integer,
    priority smallint NOT NULL,
    outcome character varying(9) NOT NULL,
    source_type character varying(200) NOT NULL,
    source_method character varying(100) NOT NULL,
    user_key character varying(100) NOT NULL
)
PARTITION BY RANGE (ended_at);
CREATE TABLE public.attempts_default (
    ended_at timestamp with time zone CONSTRAINT attempts_ended_at_not_null NOT NULL,
    start_time timestamp with time zone CONSTRAINT attempts_start_time_not_null NOT NULL,
    queued_at timestamp with time zone,
    waited_since timestamp with time zone,
    job_id bigint CONSTRAINT attempts_job_id_not_null NOT NULL,
    tenant_id bigint CONSTRAINT attempts_tenant_id_not_null NOT NULL,
    queue_id bigint CONSTRAINT attempts_queue_id_not_null NOT NULL,
    worker uuid,
    attempt integer CONSTRAINT attempts_attempt_not_null NOT NULL,
    result_bytes integer,
    peak_memory integer,
    priority smallint CONSTRAINT attempts_priority_not_null NOT NULL,
    outcome character varying(9) CONSTRAINT attempts_outcome_not_null NOT NULL,
    source_type character varying(200) CONSTRAINT attempts_source_type_not_null NOT NULL,
    source_method character varying(100) CONSTRAINT attempts_source_method_not_null NOT NULL,
    user_key character varying(100) CONSTRAINT attempts_user_key_not_null NOT NULL
);
CREATE TABLE public.auth_group (
    id integer NOT NULL,
    name character varying(150) NOT NULL
);
ALTER TABLE public.auth_group ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_group_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.auth_group_permissions (
    id bigint NOT NULL,
    group_id integer NOT NULL,
    permission_id integer NOT NULL
);
ALTER TABLE public.auth_group_permissions ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_group_permissions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.auth_permission (
    id integer NOT NULL,
    name character varying(255) NOT NULL,
    content_type_id integer NOT NULL,
    codename character varying(100) NOT NULL
);
ALTER TABLE public.auth_permission ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_permission_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.auth_user (
    id integer NOT NULL,
    password character varying(128) NOT NULL,
    last_login timestamp with time zone,
    is_superuser boolean NOT NULL,
    username character varying(150) NOT NULL,
    first_name character varying(150) NOT NULL,
    last_name character varying(150) NOT NULL,
    email character varying(254) NOT NULL,
    is_staff boolean NOT NULL,
    is_active boolean NOT NULL,
    date_joined timestamp with time zone NOT NULL
);
CREATE TABLE public.auth_user_groups (
    id bigint NOT NULL,
    user_id integer NOT NULL,
    group_id integer NOT NULL
);
ALTER TABLE public.auth_user_groups ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_user_groups_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE public.auth_user ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_user_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.auth_user_user_permissions (
    id bigint NOT NULL,
    user_id integer NOT NULL,
    permission_id integer NOT NULL
);
ALTER TABLE public.auth_user_user_permissions ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_user_user_permissions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.change_subjects (
    id bigint NOT NULL,
    subject_id bigint NOT NULL,
    change_id bigint NOT NULL
);
ALTER TABLE public.change_subjects ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.change_subjects_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.changes (
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    who character varying(200) NOT NULL,
    key character varying(12) DEFAULT ''::character varying NOT NULL,
    address character varying(45) DEFAULT ''::character varying NOT NULL,
    tenant_id bigint,
    actor_tenant_id bigint,
    verb character varying(20) NOT NULL,
    kind character varying(100) NOT NULL,
    subject_id character varying(300) NOT NULL,
    subject character varying(300) NOT NULL,
    "values" jsonb DEFAULT '{}'::jsonb NOT NULL,
    bulk uuid
);
ALTER TABLE public.changes ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.changes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.data_reports (
    id bigint NOT NULL,
    name character varying(100) NOT NULL,
    question character varying(300) NOT NULL,
    sql text NOT NULL,
    parameters jsonb NOT NULL,
    row_limit integer NOT NULL,
    tenant_id bigint NOT NULL,
    source_id bigint NOT NULL,
    CONSTRAINT data_reports_row_limit_check CHECK ((row_limit >= 0))
);
ALTER TABLE public.data_reports ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.data_reports_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.data_sources (
    id bigint NOT NULL,
    name character varying(100) NOT NULL,
    url character varying(1000) NOT NULL,
    tenant_id bigint NOT NULL
);
ALTER TABLE public.data_sources ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.data_sources_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.death_notices (
    notifier character varying(255) NOT NULL,
    upto timestamp with time zone DEFAULT statement_timestamp() NOT NULL
);
CREATE TABLE public.django_admin_log (
    id integer NOT NULL,
    action_time timestamp with time zone NOT NULL,
    object_id text,
    object_repr character varying(200) NOT NULL,
    action_flag smallint NOT NULL,
    change_message text NOT NULL,
    content_type_id integer,
    user_id integer NOT NULL,
    CONSTRAINT django_admin_log_action_flag_check CHECK ((action_flag >= 0))
);
ALTER TABLE public.django_admin_log ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.django_admin_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.django_content_type (
    id integer NOT NULL,
    app_label character varying(100) NOT NULL,
    model character varying(100) NOT NULL
);
ALTER TABLE public.django_content_type ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.django_content_type_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.django_migrations (
    id bigint NOT NULL,
    app character varying(255) NOT NULL,
    name character varying(255) NOT NULL,
    applied timestamp with time zone NOT NULL
);
ALTER TABLE public.django_migrations ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.django_migrations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.django_session (
    session_key character varying(40) NOT NULL,
    session_data text NOT NULL,
    expire_date timestamp with time zone NOT NULL
);
CREATE TABLE public.door (
    version bigint NOT NULL,
    since bigint NOT NULL,
    unseen bigint[] NOT NULL
);
CREATE SEQUENCE public.door_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER TABLE public.failed_attempts ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.failed_attempts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.freed_slots (
    xid bigint NOT NULL,
    tenant_id bigint NOT NULL,
    job_id bigint NOT NULL,
    queue_id bigint,
    user_key character varying(100),
    slot integer,
    ticket bigint,
    seconds double precision,
    timeout double precision,
    followed integer DEFAULT 0 NOT NULL,
    lost_process boolean DEFAULT false NOT NULL,
    CONSTRAINT freed_slots_slot_check CHECK ((slot >= 0))
);
CREATE TABLE public.job_history_rest (
    id bigint CONSTRAINT jobs_id_not_null NOT NULL,
    priority smallint CONSTRAINT jobs_priority_not_null NOT NULL,
    user_key character varying(100) CONSTRAINT jobs_user_key_not_null NOT NULL,
    source_type character varying(200) CONSTRAINT jobs_source_type_not_null NOT NULL,
    source_id character varying(100),
    source_method character varying(100) CONSTRAINT jobs_source_method_not_null NOT NULL,
    args jsonb CONSTRAINT jobs_args_not_null NOT NULL,
    dedup_key uuid,
    status character varying(10) CONSTRAINT jobs_status_not_null NOT NULL,
    slot integer,
    ticket bigint,
    attempt integer CONSTRAINT jobs_attempt_not_null NOT NULL,
    crashes smallint CONSTRAINT jobs_crashes_not_null NOT NULL,
    barred boolean CONSTRAINT jobs_barred_not_null NOT NULL,
    retries integer CONSTRAINT jobs_retries_not_null NOT NULL,
    max_retries integer,
    timeout double precision,
    memory integer,
    worker uuid,
    worker_pid integer,
    created_at timestamp with time zone CONSTRAINT jobs_created_at_not_null NOT NULL,
    due_at timestamp with time zone,
    ready_at timestamp with time zone,
    waited_since timestamp with time zone,
    queued_at timestamp with time zone,
    handed_at timestamp with time zone,
    start_time timestamp with time zone,
    end_time timestamp with time zone CONSTRAINT job_history_end_time_not_null NOT NULL,
    cancel_requested_at timestamp with time zone,
    died_at timestamp with time zone,
    progress double precision,
    progress_note character varying(200) CONSTRAINT jobs_progress_note_not_null NOT NULL,
    stats jsonb CONSTRAINT jobs_stats_not_null NOT NULL,
    last_error text CONSTRAINT jobs_last_error_not_null NOT NULL,
    result_expires_at timestamp with time zone,
    peak_memory integer,
    trace_parent character varying(55),
    result_bytes integer,
    tenant_id bigint CONSTRAINT jobs_tenant_id_not_null NOT NULL,
    queue_id bigint CONSTRAINT jobs_queue_id_not_null NOT NULL,
    failed_attempts jsonb CONSTRAINT job_history_failed_attempts_not_null NOT NULL,
    CONSTRAINT job_history_ended CHECK (((status)::text = ANY ((ARRAY['success'::character varying, 'error'::character varying, 'cancelled'::character varying])::text[])))
);
CREATE TABLE public.job_logs (
    id bigint NOT NULL,
    job_id bigint NOT NULL,
    attempt integer NOT NULL,
    text text NOT NULL,
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    tenant_id bigint NOT NULL,
    CONSTRAINT job_logs_attempt_check CHECK ((attempt >= 0))
);
ALTER TABLE public.job_logs ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.job_logs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.job_memories (
    id bigint NOT NULL,
    source_type character varying(200) NOT NULL,
    source_method character varying(100) NOT NULL,
    source_id character varying(100) NOT NULL,
    content jsonb NOT NULL,
    touched_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    tenant_id bigint NOT NULL,
    CONSTRAINT job_memories_small CHECK ((octet_length((content)::text) <= 8192))
);
ALTER TABLE public.job_memories ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.job_memories_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.job_minutes (
    minute timestamp with time zone NOT NULL,
    queue_id bigint NOT NULL,
    source_type character varying(200) NOT NULL,
    source_method character varying(100) NOT NULL,
    outcome character varying(9) NOT NULL,
    attempts integer NOT NULL,
    run_seconds double precision NOT NULL,
    wait_seconds double precision NOT NULL,
    run_buckets integer[] NOT NULL,
    wait_buckets integer[] NOT NULL
)
PARTITION BY RANGE (minute);
CREATE TABLE public.job_minutes_default (
    minute timestamp with time zone CONSTRAINT job_minutes_minute_not_null NOT NULL,
    queue_id bigint CONSTRAINT job_minutes_queue_id_not_null NOT NULL,
    source_type character varying(200) CONSTRAINT job_minutes_source_type_not_null NOT NULL,
    source_method character varying(100) CONSTRAINT job_minutes_source_method_not_null NOT NULL,
    outcome character varying(9) CONSTRAINT job_minutes_outcome_not_null NOT NULL,
    attempts integer CONSTRAINT job_minutes_attempts_not_null NOT NULL,
    run_seconds double precision CONSTRAINT job_minutes_run_seconds_not_null NOT NULL,
    wait_seconds double precision CONSTRAINT job_minutes_wait_seconds_not_null NOT NULL,
    run_buckets integer[] CONSTRAINT job_minutes_run_buckets_not_null NOT NULL,
    wait_buckets integer[] CONSTRAINT job_minutes_wait_buckets_not_null NOT NULL
);
ALTER TABLE public.jobs ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.jobs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.kept_answers (
    id bigint NOT NULL,
    key character varying(255) NOT NULL,
    digest character varying(64) NOT NULL,
    status smallint,
    location character varying(200) DEFAULT ''::character varying NOT NULL,
    body text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    tenant_id bigint NOT NULL,
    CONSTRAINT kept_answers_status_check CHECK ((status >= 0))
);
ALTER TABLE public.kept_answers ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.kept_answers_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.lanes (
    tenant_id bigint NOT NULL,
    queue_id bigint NOT NULL,
    version bigint NOT NULL,
    "position" bigint NOT NULL,
    state character varying(6) NOT NULL,
    virtual_time double precision NOT NULL,
    head bigint NOT NULL,
    waiting integer NOT NULL,
    last_user character varying(100) NOT NULL,
    opens_at timestamp with time zone,
    in_use integer DEFAULT 0 NOT NULL,
    tickets bigint DEFAULT 0 NOT NULL,
    CONSTRAINT lanes_in_use_from_0 CHECK ((in_use >= 0))
);
CREATE TABLE public.may_run (
    job_id bigint NOT NULL,
    since timestamp with time zone NOT NULL,
    idle_looks integer DEFAULT 0 NOT NULL,
    CONSTRAINT may_run_idle_looks_check CHECK ((idle_looks >= 0))
);
CREATE TABLE public.paused_job_types (
    id bigint NOT NULL,
    source_type character varying(200) NOT NULL,
    source_method character varying(100) NOT NULL,
    paused_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL
);
ALTER TABLE public.paused_job_types ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.paused_job_types_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.queue_turns (
    queue_id bigint NOT NULL,
    version bigint NOT NULL,
    virtual_time double precision DEFAULT 0.0 NOT NULL,
    pool_time double precision DEFAULT 0.0 NOT NULL,
    lane_time double precision DEFAULT 0.0 NOT NULL,
    head bigint DEFAULT 0 NOT NULL,
    circle_end bigint DEFAULT 0 NOT NULL,
    round_least double precision,
    growth double precision DEFAULT 0.0 NOT NULL,
    round_growth double precision,
    timed_at timestamp with time zone,
    full_at timestamp with time zone,
    in_use integer DEFAULT 0 NOT NULL,
    tickets bigint DEFAULT 0 NOT NULL,
    mean_seconds double precision DEFAULT 0.0 NOT NULL,
    CONSTRAINT queue_turns_in_use_from_0 CHECK ((in_use >= 0))
);
CREATE TABLE public.queues (
    id bigint NOT NULL,
    name character varying(50) NOT NULL,
    weight integer NOT NULL,
    pool character varying(50) NOT NULL,
    concurrency integer,
    default_timeout double precision,
    default_max_retries smallint,
    default_backoff double precision NOT NULL,
    backoff_grows boolean DEFAULT true NOT NULL,
    rate_limit integer,
    rate_window double precision,
    paused boolean NOT NULL,
    CONSTRAINT queues_backoff_bounded CHECK (((default_backoff >= (0.0)::double precision) AND (default_backoff <= (31622400.0)::double precision))),
    CONSTRAINT queues_concurrency_check CHECK ((concurrency >= 0)),
    CONSTRAINT queues_default_max_retries_check CHECK ((default_max_retries >= 0)),
    CONSTRAINT queues_rate_limit_check CHECK ((rate_limit >= 0)),
    CONSTRAINT queues_rate_limit_has_window CHECK ((((rate_limit IS NULL) AND (rate_window IS NULL)) OR ((rate_limit >= 1) AND (rate_limit IS NOT NULL) AND (rate_window >= (0.001)::double precision) AND (rate_window IS NOT NULL) AND (rate_window <= (31622400.0)::double precision)))),
    CONSTRAINT queues_timeout_positive CHECK (((default_timeout IS NULL) OR ((default_timeout > (0.0)::double precision) AND (default_timeout <= (31622400.0)::double precision)))),
    CONSTRAINT queues_weight_check CHECK ((weight >= 0)),
    CONSTRAINT queues_weight_positive CHECK ((weight >= 1))
);
ALTER TABLE public.queues ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.queues_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.recorded (
    task character varying(20) NOT NULL,
    upto timestamp with time zone NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.repairs (
    kind character varying(40) NOT NULL,
    count bigint NOT NULL,
    last_at timestamp with time zone NOT NULL,
    CONSTRAINT repairs_count_check CHECK ((count >= 0))
);
CREATE TABLE public.samples (
    at timestamp with time zone NOT NULL,
    tenants jsonb NOT NULL,
    queues jsonb NOT NULL,
    pools jsonb NOT NULL,
    states jsonb DEFAULT '{}'::jsonb NOT NULL,
    fairness double precision
);
CREATE TABLE public.schedule_runs (
    id bigint NOT NULL,
    due timestamp with time zone NOT NULL,
    job_id bigint,
    note character varying(300) NOT NULL,
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    schedule_id bigint NOT NULL
);
ALTER TABLE public.schedule_runs ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.schedule_runs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.schedules (
    id bigint NOT NULL,
    name character varying(300) NOT NULL,
    declared boolean NOT NULL,
    by_tenant boolean NOT NULL,
    source_type character varying(200) NOT NULL,
    source_id character varying(100),
    source_method character varying(100) NOT NULL,
    args jsonb NOT NULL,
    queue character varying(50),
    priority smallint,
    every double precision,
    cron character varying(200) NOT NULL,
    tz character varying(100) NOT NULL,
    jitter double precision NOT NULL,
    starts_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    ends_at timestamp with time zone,
    catch_up character varying(4) NOT NULL,
    overlap character varying(6) NOT NULL,
    paused boolean NOT NULL,
    paused_because character varying(300) NOT NULL,
    next_due timestamp with time zone,
    next_at timestamp with time zone,
    last_job_id bigint,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    tenant_id bigint NOT NULL,
    CONSTRAINT schedules_either_every_or_cron CHECK ((((every IS NULL) OR ((cron)::text = ''::text)) AND (1 = (
CASE
    WHEN (every IS NULL) THEN 1
    ELSE 0
END +
CASE
    WHEN ((cron)::text = ''::text) THEN 1
    ELSE 0
END)))),
    CONSTRAINT schedules_jitter_positive CHECK ((jitter >= (0.0)::double precision)),
    CONSTRAINT schedules_paused_is_not_due CHECK ((((next_at IS NULL) AND (next_due IS NULL)) OR ((next_at IS NOT NULL) AND (next_due IS NOT NULL) AND (NOT paused)))),
    CONSTRAINT schedules_priority_check CHECK ((priority >= 0))
);
ALTER TABLE public.schedules ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.schedules_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.servers (
    id bigint NOT NULL,
    identifier bigint NOT NULL,
    timeline integer NOT NULL,
    noticed_at timestamp with time zone NOT NULL
);
ALTER TABLE public.servers ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.servers_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.tenant_books (
    tenant_id bigint NOT NULL,
    version bigint NOT NULL,
    in_use integer NOT NULL,
    slots int4multirange NOT NULL,
    users jsonb,
    full_at timestamp with time zone,
    CONSTRAINT tenant_books_in_use_from_0 CHECK ((in_use >= 0))
);
CREATE TABLE public.tenant_hours (
    tenant_id bigint NOT NULL,
    hour timestamp with time zone NOT NULL,
    queue_id bigint NOT NULL,
    source_type character varying(200) NOT NULL,
    source_method character varying(100) NOT NULL,
    outcome character varying(9) NOT NULL,
    attempts integer NOT NULL,
    run_seconds double precision NOT NULL,
    wait_seconds double precision NOT NULL,
    run_buckets integer[] NOT NULL,
    wait_buckets integer[] NOT NULL
)
PARTITION BY RANGE (hour);
CREATE TABLE public.tenant_hours_default (
    tenant_id bigint CONSTRAINT tenant_hours_tenant_id_not_null NOT NULL,
    hour timestamp with time zone CONSTRAINT tenant_hours_hour_not_null NOT NULL,
    queue_id bigint CONSTRAINT tenant_hours_queue_id_not_null NOT NULL,
    source_type character varying(200) CONSTRAINT tenant_hours_source_type_not_null NOT NULL,
    source_method character varying(100) CONSTRAINT tenant_hours_source_method_not_null NOT NULL,
    outcome character varying(9) CONSTRAINT tenant_hours_outcome_not_null NOT NULL,
    attempts integer CONSTRAINT tenant_hours_attempts_not_null NOT NULL,
    run_seconds double precision CONSTRAINT tenant_hours_run_seconds_not_null NOT NULL,
    wait_seconds double precision CONSTRAINT tenant_hours_wait_seconds_not_null NOT NULL,
    run_buckets integer[] CONSTRAINT tenant_hours_run_buckets_not_null NOT NULL,
    wait_buckets integer[] CONSTRAINT tenant_hours_wait_buckets_not_null NOT NULL
);
CREATE TABLE public.tenant_queues (
    id bigint NOT NULL,
    num_slots integer NOT NULL,
    user_slots integer,
    weight integer NOT NULL,
    rate_limit integer,
    rate_window double precision,
    max_waiting integer,
    history_days integer,
    queues character varying(100)[] DEFAULT '{}'::character varying(100)[] NOT NULL,
    paused boolean NOT NULL,
    tenant_id bigint NOT NULL,
    CONSTRAINT tenant_queues_history_days_check CHECK ((history_days >= 0)),
    CONSTRAINT tenant_queues_max_waiting_check CHECK ((max_waiting >= 0)),
    CONSTRAINT tenant_queues_num_slots_bounded CHECK ((num_slots <= 10000)),
    CONSTRAINT tenant_queues_num_slots_check CHECK ((num_slots >= 0)),
    CONSTRAINT tenant_queues_rate_limit_check CHECK ((rate_limit >= 0)),
    CONSTRAINT tenant_queues_rate_limit_has_window CHECK ((((rate_limit IS NULL) AND (rate_window IS NULL)) OR ((rate_limit >= 1) AND (rate_limit IS NOT NULL) AND (rate_window >= (0.001)::double precision) AND (rate_window IS NOT NULL) AND (rate_window <= (31622400.0)::double precision)))),
    CONSTRAINT tenant_queues_user_slots_check CHECK ((user_slots >= 0)),
    CONSTRAINT tenant_queues_weight_check CHECK ((weight >= 0)),
    CONSTRAINT tenant_queues_weight_positive CHECK ((weight >= 1))
);
ALTER TABLE public.tenant_queues ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.tenant_queues_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.full_hours (
    hour timestamp with time zone NOT NULL,
    tenant_id bigint NOT NULL,
    minutes smallint NOT NULL,
    CONSTRAINT full_hours_minutes_check CHECK ((minutes >= 0))
);
CREATE TABLE public.tenant_shares (
    tenant_id bigint NOT NULL,
    got double precision NOT NULL,
    entitled double precision NOT NULL,
    got_hour double precision NOT NULL,
    entitled_hour double precision NOT NULL
);
CREATE TABLE public.tenants_apikey (
    id bigint NOT NULL,
    name character varying(100) NOT NULL,
    prefix character varying(12) NOT NULL,
    digest character varying(64) NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    last_used_at timestamp with time zone,
    tenant_id bigint NOT NULL
);
ALTER TABLE public.tenants_apikey ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.tenants_apikey_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.tenants_member (
    id bigint NOT NULL,
    tenant_id bigint NOT NULL,
    user_id integer NOT NULL
);
ALTER TABLE public.tenants_member ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.tenants_member_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.tenants_operatorkey (
    id bigint NOT NULL,
    name character varying(100) NOT NULL,
    prefix character varying(12) NOT NULL,
    digest character varying(64) NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    last_used_at timestamp with time zone,
    user_id integer NOT NULL
);
ALTER TABLE public.tenants_operatorkey ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.tenants_operatorkey_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.tenants_tenant (
    id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    name character varying(200) NOT NULL,
    slug character varying(255) NOT NULL,
    mirrored_key character varying(200)
);
ALTER TABLE public.tenants_tenant ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.tenants_tenant_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.totals (
    queue_id bigint NOT NULL,
    source_type character varying(200) NOT NULL,
    source_method character varying(100) NOT NULL,
    outcome character varying(9) NOT NULL,
    run_seconds double precision NOT NULL,
    wait_seconds double precision NOT NULL,
    attempts bigint NOT NULL,
    run_buckets bigint[] NOT NULL,
    wait_buckets bigint[] NOT NULL
);
CREATE TABLE public.workers (
    id uuid NOT NULL,
    name character varying(200) NOT NULL,
    pid integer NOT NULL,
    pool character varying(50) NOT NULL,
    concurrency integer NOT NULL,
    beat_interval double precision DEFAULT 5.0 NOT NULL,
    started_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    beat_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    gone_at timestamp with time zone,
    drain_requested_at timestamp with time zone,
    lost boolean DEFAULT false NOT NULL,
    CONSTRAINT workers_concurrency_check CHECK ((concurrency >= 0)),
    CONSTRAINT workers_pid_check CHECK ((pid >= 0))
);
ALTER TABLE ONLY public.attempts ATTACH PARTITION public.attempts_default DEFAULT;
ALTER TABLE ONLY public.job_history ATTACH PARTITION public.job_history_rest DEFAULT;
ALTER TABLE ONLY public.job_minutes ATTACH PARTITION public.job_minutes_default DEFAULT;
ALTER TABLE ONLY public.tenant_hours ATTACH PARTITION public.tenant_hours_default DEFAULT;
INSERT INTO public.arrivals (xid, queue_id, tenant_id, head, jobs) VALUES
	(817, 1, 1, NULL, 1),
	(819, 1, 2, NULL, 1),
	(821, 1, 1, 1441151880758558723, 1),
	(823, 1, 2, 1441151880758558724, 1),
	(842, 1, 1, NULL, 1);
INSERT INTO public.auth_permission (id, name, content_type_id, codename) VALUES
	(1, 'Can add log entry', 1, 'add_logentry'),
	(2, 'Can change log entry', 1, 'change_logentry'),
	(3, 'Can delete log entry', 1, 'delete_logentry'),
	(4, 'Can view log entry', 1, 'view_logentry'),
	(5, 'Can add permission', 2, 'add_permission'),
	(6, 'Can change permission', 2, 'change_permission'),
	(7, 'Can delete permission', 2, 'delete_permission'),
	(8, 'Can view permission', 2, 'view_permission'),
	(9, 'Can add group', 3, 'add_group'),
	(10, 'Can change group', 3, 'change_group'),
	(11, 'Can delete group', 3, 'delete_group'),
	(12, 'Can view group', 3, 'view_group'),
	(13, 'Can add user', 4, 'add_user'),
	(14, 'Can change user', 4, 'change_user'),
	(15, 'Can delete user', 4, 'delete_user'),
	(16, 'Can view user', 4, 'view_user'),
	(17, 'Can add content type', 5, 'add_contenttype'),
	(18, 'Can change content type', 5, 'change_contenttype'),
	(19, 'Can delete content type', 5, 'delete_contenttype'),
	(20, 'Can view content type', 5, 'view_contenttype'),
	(21, 'Can add session', 6, 'add_session'),
	(22, 'Can change session', 6, 'change_session'),
	(23, 'Can delete session', 6, 'delete_session'),
	(24, 'Can view session', 6, 'view_session'),
	(25, 'Can add tenant', 7, 'add_tenant'),
	(26, 'Can change tenant', 7, 'change_tenant'),
	(27, 'Can delete tenant', 7, 'delete_tenant'),
	(28, 'Can view tenant', 7, 'view_tenant'),
	(29, 'Can add operator key', 8, 'add_operatorkey'),
	(30, 'Can change operator key', 8, 'change_operatorkey'),
	(31, 'Can delete operator key', 8, 'delete_operatorkey'),
	(32, 'Can view operator key', 8, 'view_operatorkey'),
	(33, 'Can add member', 9, 'add_member'),
	(34, 'Can change member', 9, 'change_member'),
	(35, 'Can delete member', 9, 'delete_member'),
	(36, 'Can view member', 9, 'view_member'),
	(37, 'Can add API key', 10, 'add_apikey'),
	(38, 'Can change API key', 10, 'change_apikey'),
	(39, 'Can delete API key', 10, 'delete_apikey'),
	(40, 'Can view API key', 10, 'view_apikey'),
	(41, 'Can add tenant''s setting', 11, 'add_tenantqueue'),
	(42, 'Can change tenant''s setting', 11, 'change_tenantqueue'),
	(43, 'Can delete tenant''s setting', 11, 'delete_tenantqueue'),
	(44, 'Can view tenant''s setting', 11, 'view_tenantqueue'),
	(45, 'Can add change', 12, 'add_change'),
	(46, 'Can change change', 12, 'change_change'),
	(47, 'Can delete change', 12, 'delete_change'),
	(48, 'Can view change', 12, 'view_change'),
	(49, 'Can add death notice', 13, 'add_deathnotice'),
	(50, 'Can change death notice', 13, 'change_deathnotice'),
	(51, 'Can delete death notice', 13, 'delete_deathnotice'),
	(52, 'Can view death notice', 13, 'view_deathnotice'),
	(53, 'Can add queue', 14, 'add_queue'),
	(54, 'Can change queue', 14, 'change_queue'),
	(55, 'Can delete queue', 14, 'delete_queue'),
	(56, 'Can view queue', 14, 'view_queue'),
	(57, 'Can add repair', 15, 'add_repair'),
	(58, 'Can change repair', 15, 'change_repair'),
	(59, 'Can delete repair', 15, 'delete_repair'),
	(60, 'Can view repair', 15, 'view_repair'),
	(61, 'Can add worker', 16, 'add_worker'),
	(62, 'Can change worker', 16, 'change_worker'),
	(63, 'Can delete worker', 16, 'delete_worker'),
	(64, 'Can view worker', 16, 'view_worker'),
	(65, 'Can add job', 17, 'add_job'),
	(66, 'Can change job', 17, 'change_job'),
	(67, 'Can delete job', 17, 'delete_job'),
	(68, 'Can view job', 17, 'view_job'),
	(69, 'Can add failed attempt', 18, 'add_failedattempt'),
	(70, 'Can change failed attempt', 18, 'change_failedattempt'),
	(71, 'Can delete failed attempt', 18, 'delete_failedattempt'),
	(72, 'Can view failed attempt', 18, 'view_failedattempt'),
	(73, 'Can view dead letter', 19, 'view_deadletter'),
	(74, 'Can change dead letter', 19, 'change_deadletter'),
	(75, 'Can add paused job type', 20, 'add_pausedjobtype'),
	(76, 'Can change paused job type', 20, 'change_pausedjobtype'),
	(77, 'Can delete paused job type', 20, 'delete_pausedjobtype'),
	(78, 'Can view paused job type', 20, 'view_pausedjobtype'),
	(79, 'Can add arrival', 21, 'add_arrival'),
	(80, 'Can change arrival', 21, 'change_arrival'),
	(81, 'Can delete arrival', 21, 'delete_arrival'),
	(82, 'Can view arrival', 21, 'view_arrival'),
	(83, 'Can add door', 22, 'add_door'),
	(84, 'Can change door', 22, 'change_door'),
	(85, 'Can delete door', 22, 'delete_door'),
	(86, 'Can view door', 22, 'view_door'),
	(87, 'Can add freed slot', 23, 'add_freedslot'),
	(88, 'Can change freed slot', 23, 'change_freedslot'),
	(89, 'Can delete freed slot', 23, 'delete_freedslot'),
	(90, 'Can view freed slot', 23, 'view_freedslot'),
	(91, 'Can add lane', 24, 'add_lane'),
	(92, 'Can change lane', 24, 'change_lane'),
	(93, 'Can delete lane', 24, 'delete_lane'),
	(94, 'Can view lane', 24, 'view_lane'),
	(95, 'Can add queue turn', 25, 'add_queueturn'),
	(96, 'Can change queue turn', 25, 'change_queueturn'),
	(97, 'Can delete queue turn', 25, 'delete_queueturn'),
	(98, 'Can view queue turn', 25, 'view_queueturn'),
	(99, 'Can add tenant bucket', 26, 'add_tenantbucket'),
	(100, 'Can change tenant bucket', 26, 'change_tenantbucket');
INSERT INTO public.auth_permission (id, name, content_type_id, codename) VALUES
	(101, 'Can delete tenant bucket', 26, 'delete_tenantbucket'),
	(102, 'Can view tenant bucket', 26, 'view_tenantbucket'),
	(103, 'Can add kept answer', 27, 'add_keptanswer'),
	(104, 'Can change kept answer', 27, 'change_keptanswer'),
	(105, 'Can delete kept answer', 27, 'delete_keptanswer'),
	(106, 'Can view kept answer', 27, 'view_keptanswer'),
	(107, 'Can add data source', 28, 'add_datasource'),
	(108, 'Can change data source', 28, 'change_datasource'),
	(109, 'Can delete data source', 28, 'delete_datasource'),
	(110, 'Can view data source', 28, 'view_datasource'),
	(111, 'Can add data report', 29, 'add_datareport'),
	(112, 'Can change data report', 29, 'change_datareport'),
	(113, 'Can delete data report', 29, 'delete_datareport'),
	(114, 'Can view data report', 29, 'view_datareport'),
	(115, 'Can add schedule', 30, 'add_schedule'),
	(116, 'Can change schedule', 30, 'change_schedule'),
	(117, 'Can delete schedule', 30, 'delete_schedule'),
	(118, 'Can view schedule', 30, 'view_schedule'),
	(119, 'Can add schedule run', 31, 'add_schedulerun'),
	(120, 'Can change schedule run', 31, 'change_schedulerun'),
	(121, 'Can delete schedule run', 31, 'delete_schedulerun'),
	(122, 'Can view schedule run', 31, 'view_schedulerun'),
	(123, 'Can add archived job', 32, 'add_archivedjob'),
	(124, 'Can change archived job', 32, 'change_archivedjob'),
	(125, 'Can delete archived job', 32, 'delete_archivedjob'),
	(126, 'Can view archived job', 32, 'view_archivedjob'),
	(127, 'Can add job memory', 35, 'add_jobmemory'),
	(128, 'Can change job memory', 35, 'change_jobmemory'),
	(129, 'Can delete job memory', 35, 'delete_jobmemory'),
	(130, 'Can view job memory', 35, 'view_jobmemory'),
	(131, 'Can add attempt', 36, 'add_attempt'),
	(132, 'Can change attempt', 36, 'change_attempt'),
	(133, 'Can delete attempt', 36, 'delete_attempt'),
	(134, 'Can view attempt', 36, 'view_attempt'),
	(135, 'Can add job minute', 37, 'add_jobminute'),
	(136, 'Can change job minute', 37, 'change_jobminute'),
	(137, 'Can delete job minute', 37, 'delete_jobminute'),
	(138, 'Can view job minute', 37, 'view_jobminute'),
	(139, 'Can add tenant hour', 38, 'add_tenanthour'),
	(140, 'Can change tenant hour', 38, 'change_tenanthour'),
	(141, 'Can delete tenant hour', 38, 'delete_tenanthour'),
	(142, 'Can view tenant hour', 38, 'view_tenanthour'),
	(143, 'Can add sample', 39, 'add_sample'),
	(144, 'Can change sample', 39, 'change_sample'),
	(145, 'Can delete sample', 39, 'delete_sample'),
	(146, 'Can view sample', 39, 'view_sample'),
	(147, 'Can add recorded', 40, 'add_recorded'),
	(148, 'Can change recorded', 40, 'change_recorded'),
	(149, 'Can delete recorded', 40, 'delete_recorded'),
	(150, 'Can view recorded', 40, 'view_recorded'),
	(151, 'Can add total', 41, 'add_total'),
	(152, 'Can change total', 41, 'change_total'),
	(153, 'Can delete total', 41, 'delete_total'),
	(154, 'Can view total', 41, 'view_total'),
	(155, 'Can add may run', 42, 'add_mayrun'),
	(156, 'Can change may run', 42, 'change_mayrun'),
	(157, 'Can delete may run', 42, 'delete_mayrun'),
	(158, 'Can view may run', 42, 'view_mayrun'),
	(159, 'Can add tenant share', 43, 'add_tenantshare'),
	(160, 'Can change tenant share', 43, 'change_tenantshare'),
	(161, 'Can delete tenant share', 43, 'delete_tenantshare'),
	(162, 'Can view tenant share', 43, 'view_tenantshare'),
	(163, 'Can add server', 44, 'add_server'),
	(164, 'Can change server', 44, 'change_server'),
	(165, 'Can delete server', 44, 'delete_server'),
	(166, 'Can view server', 44, 'view_server'),
	(167, 'Can add tenant book', 45, 'add_tenantbook'),
	(168, 'Can change tenant book', 45, 'change_tenantbook'),
	(169, 'Can delete tenant book', 45, 'delete_tenantbook'),
	(170, 'Can view tenant book', 45, 'view_tenantbook');
INSERT INTO public.auth_user (id, password, last_login, is_superuser, username, first_name, last_name, email, is_staff, is_active, date_joined) VALUES
	(1, 'pbkdf2_sha256$1000000$YMnswbgl2xc7LuTXgwaqfU$qLMdHvqNoOZnm/J0EB1MYTCkHYGimMsBJN2VzbchOoM=', NULL, false, 'anna', '', '', '', false, true, '2026-11-21 20:56:20.810404+00');
INSERT INTO public.django_content_type (id, app_label, model) VALUES
	(1, 'admin', 'logentry'),
	(2, 'auth', 'permission'),
	(3, 'auth', 'group'),
	(4, 'auth', 'user'),
	(5, 'contenttypes', 'contenttype'),
	(6, 'sessions', 'session'),
	(7, 'tenants', 'tenant'),
	(8, 'tenants', 'operatorkey'),
	(9, 'tenants', 'member'),
	(10, 'tenants', 'apikey'),
	(11, 'tenants', 'tenantqueue'),
	(12, 'tenants', 'change'),
	(13, 'jobs', 'deathnotice'),
	(14, 'jobs', 'queue'),
	(15, 'jobs', 'repair'),
	(16, 'jobs', 'worker'),
	(17, 'jobs', 'job'),
	(18, 'jobs', 'failedattempt'),
	(19, 'jobs', 'deadletter'),
	(20, 'jobs', 'pausedjobtype'),
	(21, 'jobs', 'arrival'),
	(22, 'jobs', 'door'),
	(23, 'jobs', 'freedslot'),
	(24, 'jobs', 'lane'),
	(25, 'jobs', 'queueturn'),
	(26, 'jobs', 'tenantbucket'),
	(27, 'jobs', 'keptanswer'),
	(28, 'reports', 'datasource'),
	(29, 'reports', 'datareport'),
	(30, 'jobs', 'schedule'),
	(31, 'jobs', 'schedulerun'),
	(32, 'jobs', 'archivedjob'),
	(33, 'jobs', 'anyjob'),
	(34, 'jobs', 'anyfailedattempt'),
	(35, 'jobs', 'jobmemory'),
	(36, 'jobs', 'attempt'),
	(37, 'jobs', 'jobminute'),
	(38, 'jobs', 'tenanthour'),
	(39, 'jobs', 'sample'),
	(40, 'jobs', 'recorded'),
	(41, 'jobs', 'total'),
	(42, 'jobs', 'mayrun'),
	(43, 'jobs', 'tenantshare'),
	(44, 'jobs', 'server'),
	(45, 'jobs', 'tenantbook');
INSERT INTO public.django_migrations (id, app, name, applied) VALUES
	(1, 'contenttypes', '0001_initial', '2026-11-23 15:43:13.020932+00'),
	(2, 'auth', '0001_initial', '2026-11-23 15:43:13.056637+00'),
	(3, 'admin', '0001_initial', '2026-11-23 15:43:13.070082+00'),
	(4, 'admin', '0002_logentry_remove_auto_add', '2026-11-23 15:43:13.078728+00'),
	(5, 'admin', '0003_logentry_add_action_flag_choices', '2026-11-23 15:43:13.082429+00'),
	(6, 'contenttypes', '0002_remove_content_type_name', '2026-11-23 15:43:13.091309+00'),
	(7, 'auth', '0002_alter_permission_name_max_length', '2026-11-23 15:43:13.100782+00'),
	(8, 'auth', '0003_alter_user_email_max_length', '2026-11-23 15:43:13.106553+00'),
	(9, 'auth', '0004_alter_user_username_opts', '2026-11-23 15:43:13.110006+00'),
	(10, 'auth', '0005_alter_user_last_login_null', '2026-11-23 15:43:13.113847+00'),
	(11, 'auth', '0006_require_contenttypes_0002', '2026-11-23 15:43:13.114377+00'),
	(12, 'auth', '0007_alter_validators_add_error_messages', '2026-11-23 15:43:13.118105+00'),
	(13, 'auth', '0008_alter_user_username_max_length', '2026-11-23 15:43:13.12332+00'),
	(14, 'auth', '0009_alter_user_last_name_max_length', '2026-11-23 15:43:13.127479+00'),
	(15, 'auth', '0010_alter_group_name_max_length', '2026-11-23 15:43:13.132697+00'),
	(16, 'auth', '0011_update_proxy_permissions', '2026-11-23 15:43:13.136693+00'),
	(17, 'auth', '0012_alter_user_first_name_max_length', '2026-11-23 15:43:13.141239+00'),
	(18, 'tenants', '0001_initial', '2026-11-23 15:43:13.188033+00'),
	(19, 'jobs', '0001_initial', '2026-11-23 15:43:13.621153+00'),
	(20, 'reports', '0001_initial', '2026-11-23 15:43:13.695527+00'),
	(21, 'reports', '0002_source_of_the_same_tenant', '2026-11-23 15:43:13.696996+00'),
	(22, 'reports', '0003_help_texts', '2026-11-23 15:43:13.706747+00'),
	(23, 'sessions', '0001_initial', '2026-11-23 15:43:13.711277+00');
INSERT INTO public.door (version, since, unseen) VALUES
	(1, 0, '{}');
INSERT INTO public.failed_attempts (id, attempt, error_class, error, traceback, worker, queued_at, start_time, end_time, job_id) VALUES
	(1, 1, 'ValueError', 'no', 'T', NULL, NULL, NULL, '2026-11-21 20:56:21.064847+00', 11),
	(2, 1, 'ValueError', 'no', 'T', NULL, NULL, NULL, '2026-11-21 20:56:21.067479+00', 12),
	(3, 1, 'ValueError', 'no', 'T', NULL, NULL, NULL, '2026-11-21 20:56:21.070826+00', 13),
	(4, 1, 'ValueError', 'no', 'T', NULL, NULL, NULL, '2026-11-21 20:56:21.072933+00', 14);
INSERT INTO public.freed_slots (xid, tenant_id, job_id, queue_id, user_key, slot, ticket, seconds, timeout, followed, lost_process) VALUES
	(809, 1, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, false),
	(811, 2, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, false);
INSERT INTO public.jobs (id, priority, user_key, source_type, source_id, source_method, args, dedup_key, status, slot, ticket, attempt, crashes, barred, retries, max_retries, timeout, memory, worker, worker_pid, created_at, due_at, ready_at, waited_since, queued_at, handed_at, start_time, end_time, cancel_requested_at, died_at, progress, progress_note, stats, last_error, result_expires_at, peak_memory, trace_parent, result_bytes, followed, tenant_id, queue_id) VALUES
	(1, 5, '7', 'reports.datareport', '0', 'execute', '{"n": 0, "region": "EU"}', NULL, 'scheduled', NULL, NULL, 0, 0, false, 0, NULL, NULL, NULL, NULL, NULL, '2026-11-21 20:56:21.043231+00', '2076-11-08 20:56:21.040338+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '', '{}', '', NULL, NULL, NULL, NULL, 0, 1, 1),
	(2, 5, '7', 'reports.datareport', '0', 'execute', '{"n": 0, "region": "EU"}', NULL, 'scheduled', NULL, NULL, 0, 0, false, 0, NULL, NULL, NULL, NULL, NULL, '2026-11-21 20:56:21.04633+00', '2076-11-08 20:56:21.04461+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '', '{}', '', NULL, NULL, NULL, NULL, 0, 2, 1),
	(3, 5, '7', 'reports.datareport', '1', 'execute', '{"n": 1, "region": "EU"}', NULL, 'created', NULL, NULL, 0, 0, false, 0, NULL, NULL, NULL, NULL, NULL, '2026-11-21 20:56:21.04866+00', NULL, '2026-11-21 20:56:21.047052+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '', '{}', '', NULL, NULL, NULL, NULL, 0, 1, 1),
	(4, 5, '7', 'reports.datareport', '1', 'execute', '{"n": 1, "region": "EU"}', NULL, 'created', NULL, NULL, 0, 0, false, 0, NULL, NULL, NULL, NULL, NULL, '2026-11-21 20:56:21.0509+00', NULL, '2026-11-21 20:56:21.049395+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '', '{}', '', NULL, NULL, NULL, NULL, 0, 2, 1),
	(9, 5, '7', 'reports.datareport', '4', 'execute', '{"n": 4, "region": "EU"}', NULL, 'success', NULL, NULL, 1, 0, false, 0, NULL, NULL, NULL, '9de186f2-ed0c-4344-86a8-6d1483ff96a0', NULL, '2026-11-21 20:56:21.061137+00', NULL, NULL, NULL, '2026-11-21 20:56:21.059714+00', NULL, '2026-11-21 20:56:21.059714+00', '2026-11-21 20:56:21.059714+00', NULL, NULL, NULL, '', '{}', '', NULL, NULL, NULL, NULL, 0, 1, 1),
	(10, 5, '7', 'reports.datareport', '4', 'execute', '{"n": 4, "region": "EU"}', NULL, 'success', NULL, NULL, 1, 0, false, 0, NULL, NULL, NULL, 'eb640016-a83d-4bd8-a9c5-26c8fc7b4dbc', NULL, '2026-11-21 20:56:21.062821+00', NULL, NULL, NULL, '2026-11-21 20:56:21.061473+00', NULL, '2026-11-21 20:56:21.061473+00', '2026-11-21 20:56:21.061473+00', NULL, NULL, NULL, '', '{}', '', NULL, NULL, NULL, NULL, 0, 2, 1),
	(11, 5, '7', 'reports.datareport', '5', 'execute', '{"n": 5, "region": "EU"}', NULL, 'error', NULL, NULL, 1, 0, false, 0, NULL, NULL, NULL, '39bbe7bc-506c-4b01-9670-bb43e6a9bae2', NULL, '2026-11-21 20:56:21.064511+00', NULL, NULL, NULL, '2026-11-21 20:56:21.063139+00', NULL, '2026-11-21 20:56:21.063139+00', '2026-11-21 20:56:21.063139+00', NULL, NULL, NULL, '', '{}', '', NULL, NULL, NULL, NULL, 0, 1, 1),
	(12, 5, '7', 'reports.datareport', '5', 'execute', '{"n": 5, "region": "EU"}', NULL, 'error', NULL, NULL, 1, 0, false, 0, NULL, NULL, NULL, 'fc6023de-f765-4663-82b5-e66d86918055', NULL, '2026-11-21 20:56:21.067166+00', NULL, NULL, NULL, '2026-11-21 20:56:21.065717+00', NULL, '2026-11-21 20:56:21.065717+00', '2026-11-21 20:56:21.065717+00', NULL, NULL, NULL, '', '{}', '', NULL, NULL, NULL, NULL, 0, 2, 1),
	(13, 5, '7', 'reports.datareport', '6', 'execute', '{"n": 6, "region": "EU"}', NULL, 'dead', NULL, NULL, 1, 0, false, 0, NULL, NULL, NULL, NULL, NULL, '2026-11-21 20:56:21.070394+00', NULL, NULL, NULL, '2026-11-21 20:56:21.067901+00', NULL, NULL, '2026-11-21 20:56:21.067901+00', NULL, '2026-11-21 20:56:21.067901+00', NULL, '', '{}', '', NULL, NULL, NULL, NULL, 0, 1, 1),
	(14, 5, '7', 'reports.datareport', '6', 'execute', '{"n": 6, "region": "EU"}', NULL, 'dead', NULL, NULL, 1, 0, false, 0, NULL, NULL, NULL, NULL, NULL, '2026-11-21 20:56:21.072595+00', NULL, NULL, NULL, '2026-11-21 20:56:21.071249+00', NULL, NULL, '2026-11-21 20:56:21.071249+00', NULL, '2026-11-21 20:56:21.071249+00', NULL, '', '{}', '', NULL, NULL, NULL, NULL, 0, 2, 1),
	(15, 5, '7', 'reports.datareport', '7', 'execute', '{"n": 7, "region": "EU"}', NULL, 'cancelled', NULL, NULL, 1, 0, false, 0, NULL, NULL, NULL, NULL, NULL, '2026-11-21 20:56:21.074678+00', NULL, NULL, NULL, '2026-11-21 20:56:21.073342+00', NULL, NULL, '2026-11-21 20:56:21.073342+00', NULL, NULL, NULL, '', '{}', '', NULL, NULL, NULL, NULL, 0, 1, 1),
	(16, 5, '7', 'reports.datareport', '7', 'execute', '{"n": 7, "region": "EU"}', NULL, 'cancelled', NULL, NULL, 1, 0, false, 0, NULL, NULL, NULL, NULL, NULL, '2026-11-21 20:56:21.076345+00', NULL, NULL, NULL, '2026-11-21 20:56:21.075002+00', NULL, NULL, '2026-11-21 20:56:21.075002+00', NULL, NULL, NULL, '', '{}', '', NULL, NULL, NULL, NULL, 0, 2, 1),
	(17, 5, '', 'reports.datareport', '1', 'other', '{}', NULL, 'scheduled', NULL, NULL, 0, 0, false, 0, NULL, NULL, NULL, NULL, NULL, '2026-11-21 20:56:21.078775+00', '9999-12-31 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '', '{}', '', NULL, NULL, NULL, NULL, 0, 1, 1),
	(5, 5, '7', 'reports.datareport', '2', 'execute', '{"n": 2, "region": "EU"}', NULL, 'queued', 3, 1795294581052, 1, 0, false, 0, NULL, NULL, NULL, NULL, NULL, '2026-11-21 20:56:21.05331+00', NULL, NULL, NULL, '2026-11-21 20:56:21.051558+00', NULL, NULL, NULL, NULL, NULL, NULL, '', '{}', '', NULL, NULL, NULL, NULL, 0, 1, 1),
	(6, 5, '7', 'reports.datareport', '2', 'execute', '{"n": 2, "region": "EU"}', NULL, 'queued', 3, 1795294581054, 1, 0, false, 0, NULL, NULL, NULL, NULL, NULL, '2026-11-21 20:56:21.055468+00', NULL, NULL, NULL, '2026-11-21 20:56:21.053816+00', NULL, NULL, NULL, NULL, NULL, NULL, '', '{}', '', NULL, NULL, NULL, NULL, 0, 2, 1),
	(7, 5, '7', 'reports.datareport', '3', 'execute', '{"n": 3, "region": "EU"}', NULL, 'running', 4, 1795294581056, 1, 0, false, 0, NULL, NULL, NULL, '6fe494f6-2df1-4ada-a22a-909c01a9d470', NULL, '2026-11-21 20:56:21.057453+00', NULL, NULL, NULL, '2026-11-21 20:56:21.055838+00', NULL, '2026-11-21 20:56:21.055838+00', NULL, NULL, NULL, NULL, '', '{}', '', NULL, NULL, NULL, NULL, 0, 1, 1),
	(8, 5, '7', 'reports.datareport', '3', 'execute', '{"n": 3, "region": "EU"}', NULL, 'running', 4, 1795294581058, 1, 0, false, 0, NULL, NULL, NULL, 'b8bdfc57-b21b-4379-b420-d5911b2b1187', NULL, '2026-11-21 20:56:21.059381+00', NULL, NULL, NULL, '2026-11-21 20:56:21.057824+00', NULL, '2026-11-21 20:56:21.057824+00', NULL, NULL, NULL, NULL, '', '{}', '', NULL, NULL, NULL, NULL, 0, 2, 1);
INSERT INTO public.paused_job_types (id, source_type, source_method, paused_at) VALUES
	(1, 'reports.datareport', 'other', '2026-11-21 20:56:21.076951+00');
INSERT INTO public.queues (id, name, weight, pool, concurrency, default_timeout, default_max_retries, default_backoff, backoff_grows, rate_limit, rate_window, paused) VALUES
	(1, 'default', 1, 'default', NULL, NULL, NULL, 10, true, NULL, NULL, false),
	(2, 'reports', 1, 'default', NULL, NULL, NULL, 10, true, NULL, NULL, false),
	(3, 'mail', 1, 'default', 9, NULL, NULL, 10, true, NULL, NULL, false);
INSERT INTO public.tenant_books (tenant_id, version, in_use, slots, users, full_at) VALUES
	(2, 0, 2, '{[3,5)}', NULL, NULL),
	(1, 0, 2, '{[3,5)}', NULL, NULL);
INSERT INTO public.tenant_queues (id, num_slots, user_slots, weight, rate_limit, rate_window, max_waiting, history_days, queues, paused, tenant_id) VALUES
	(1, 20, 5, 3, NULL, NULL, NULL, NULL, '{}', false, 1),
	(2, 20, NULL, 1, NULL, NULL, NULL, NULL, '{}', false, 2);
INSERT INTO public.tenants_apikey (id, name, prefix, digest, created_at, expires_at, revoked_at, last_used_at, tenant_id) VALUES
	(1, 'nightly', '46cf6d602208', 'fcfc628fd87f5b01ce1975fa48aed3e48daa2de3370e8e876908bca1c61b86cf', '2026-11-21 20:56:21.039639+00', NULL, NULL, NULL, 1);
INSERT INTO public.tenants_member (id, tenant_id, user_id) VALUES
	(1, 1, 1);
INSERT INTO public.tenants_tenant (id, created_at, name, slug, mirrored_key) VALUES
	(1, '2026-11-21 20:56:20.804444+00', 'Acme', 'acme', NULL),
	(2, '2026-11-21 20:56:20.807631+00', 'Umbrella', 'umbrella', NULL);
SELECT pg_catalog.setval('public.auth_group_id_seq', 1, false);
SELECT pg_catalog.setval('public.auth_group_permissions_id_seq', 1, false);
SELECT pg_catalog.setval('public.auth_permission_id_seq', 170, true);
SELECT pg_catalog.setval('public.auth_user_groups_id_seq', 1, false);
SELECT pg_catalog.setval('public.auth_user_id_seq', 1, true);
SELECT pg_catalog.setval('public.auth_user_user_permissions_id_seq', 1, false);
SELECT pg_catalog.setval('public.change_subjects_id_seq', 1, false);
SELECT pg_catalog.setval('public.changes_id_seq', 1, false);
SELECT pg_catalog.setval('public.data_reports_id_seq', 1, false);
SELECT pg_catalog.setval('public.data_sources_id_seq', 1, false);
SELECT pg_catalog.setval('public.django_admin_log_id_seq', 1, false);
SELECT pg_catalog.setval('public.django_content_type_id_seq', 45, true);
SELECT pg_catalog.setval('public.django_migrations_id_seq', 23, true);
SELECT pg_catalog.setval('public.door_seq', 5, true);
SELECT pg_catalog.setval('public.failed_attempts_id_seq', 4, true);
SELECT pg_catalog.setval('public.job_logs_id_seq', 1, false);
SELECT pg_catalog.setval('public.job_memories_id_seq', 1, false);
SELECT pg_catalog.setval('public.jobs_id_seq', 17, true);
SELECT pg_catalog.setval('public.kept_answers_id_seq', 1, false);
SELECT pg_catalog.setval('public.paused_job_types_id_seq', 1, true);
SELECT pg_catalog.setval('public.queues_id_seq', 5, true);
SELECT pg_catalog.setval('public.schedule_runs_id_seq', 1, false);
SELECT pg_catalog.setval('public.schedules_id_seq', 1, false);
SELECT pg_catalog.setval('public.servers_id_seq', 1, false);
SELECT pg_catalog.setval('public.tenant_queues_id_seq', 2, true);
SELECT pg_catalog.setval('public.tenants_apikey_id_seq', 1, true);
SELECT pg_catalog.setval('public.tenants_member_id_seq', 1, true);
SELECT pg_catalog.setval('public.tenants_operatorkey_id_seq', 1, false);
SELECT pg_catalog.setval('public.tenants_tenant_id_seq', 2, true);
ALTER TABLE ONLY public.arrivals
    ADD CONSTRAINT arrivals_pkey PRIMARY KEY (xid, queue_id, tenant_id);
ALTER TABLE ONLY public.auth_group
    ADD CONSTRAINT auth_group_name_key UNIQUE (name);
ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_group_id_permission_id_0cd325b0_uniq UNIQUE (group_id, permission_id);
ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.auth_group
    ADD CONSTRAINT auth_group_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.auth_permission
    ADD CONSTRAINT auth_permission_content_type_id_codename_01ab375a_uniq UNIQUE (content_type_id, codename);
ALTER TABLE ONLY public.auth_permission
    ADD CONSTRAINT auth_permission_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.auth_user_groups
    ADD CONSTRAINT auth_user_groups_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.auth_user_groups
    ADD CONSTRAINT auth_user_groups_user_id_group_id_94350c0c_uniq UNIQUE (user_id, group_id);
ALTER TABLE ONLY public.auth_user
    ADD CONSTRAINT auth_user_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.auth_user_user_permissions
    ADD CONSTRAINT auth_user_user_permissions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.auth_user_user_permissions
    ADD CONSTRAINT auth_user_user_permissions_user_id_permission_id_14a6b632_uniq UNIQUE (user_id, permission_id);
ALTER TABLE ONLY public.auth_user
    ADD CONSTRAINT auth_user_username_key UNIQUE (username);
ALTER TABLE ONLY public.change_subjects
    ADD CONSTRAINT change_subjects_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.changes
    ADD CONSTRAINT changes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.data_reports
    ADD CONSTRAINT data_reports_name_once_per_tenant UNIQUE (tenant_id, name);
ALTER TABLE ONLY public.data_reports
    ADD CONSTRAINT data_reports_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.data_sources
    ADD CONSTRAINT data_sources_name_once_per_tenant UNIQUE (tenant_id, name);
ALTER TABLE ONLY public.data_sources
    ADD CONSTRAINT data_sources_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.data_sources
    ADD CONSTRAINT data_sources_tenant_and_id UNIQUE (tenant_id, id);
ALTER TABLE ONLY public.death_notices
    ADD CONSTRAINT death_notices_pkey PRIMARY KEY (notifier);
ALTER TABLE ONLY public.django_admin_log
    ADD CONSTRAINT django_admin_log_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.django_content_type
    ADD CONSTRAINT django_content_type_app_label_model_76bd3d3b_uniq UNIQUE (app_label, model);
ALTER TABLE ONLY public.django_content_type
    ADD CONSTRAINT django_content_type_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.django_migrations
    ADD CONSTRAINT django_migrations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.django_session
    ADD CONSTRAINT django_session_pkey PRIMARY KEY (session_key);
ALTER TABLE ONLY public.door
    ADD CONSTRAINT door_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.failed_attempts
    ADD CONSTRAINT failed_attempts_once UNIQUE (job_id, attempt);
ALTER TABLE ONLY public.failed_attempts
    ADD CONSTRAINT failed_attempts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.freed_slots
    ADD CONSTRAINT freed_slots_pkey PRIMARY KEY (xid, tenant_id, job_id);
ALTER TABLE ONLY public.job_history
    ADD CONSTRAINT job_history_pkey PRIMARY KEY (id, end_time);
ALTER TABLE ONLY public.job_history_rest
    ADD CONSTRAINT job_history_rest_pkey PRIMARY KEY (id, end_time);
ALTER TABLE ONLY public.job_logs
    ADD CONSTRAINT job_logs_once UNIQUE (job_id, attempt);
ALTER TABLE ONLY public.job_logs
    ADD CONSTRAINT job_logs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.job_memories
    ADD CONSTRAINT job_memories_once UNIQUE (tenant_id, source_type, source_method, source_id);
ALTER TABLE ONLY public.job_memories
    ADD CONSTRAINT job_memories_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.job_minutes
    ADD CONSTRAINT job_minutes_pkey PRIMARY KEY (minute, queue_id, source_type, source_method, outcome);
ALTER TABLE ONLY public.job_minutes_default
    ADD CONSTRAINT job_minutes_default_pkey PRIMARY KEY (minute, queue_id, source_type, source_method, outcome);
ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.kept_answers
    ADD CONSTRAINT kept_answers_once UNIQUE (tenant_id, key);
ALTER TABLE ONLY public.kept_answers
    ADD CONSTRAINT kept_answers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.lanes
    ADD CONSTRAINT lanes_pkey PRIMARY KEY (tenant_id, queue_id, version);
ALTER TABLE ONLY public.may_run
    ADD CONSTRAINT may_run_pkey PRIMARY KEY (job_id);
ALTER TABLE ONLY public.paused_job_types
    ADD CONSTRAINT paused_job_types_once UNIQUE (source_type, source_method);
ALTER TABLE ONLY public.paused_job_types
    ADD CONSTRAINT paused_job_types_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.queue_turns
    ADD CONSTRAINT queue_turns_pkey PRIMARY KEY (queue_id, version);
ALTER TABLE ONLY public.queues
    ADD CONSTRAINT queues_name_key UNIQUE (name);
ALTER TABLE ONLY public.queues
    ADD CONSTRAINT queues_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.recorded
    ADD CONSTRAINT recorded_pkey PRIMARY KEY (task);
ALTER TABLE ONLY public.repairs
    ADD CONSTRAINT repairs_pkey PRIMARY KEY (kind);
ALTER TABLE ONLY public.samples
    ADD CONSTRAINT samples_pkey PRIMARY KEY (at);
ALTER TABLE ONLY public.schedule_runs
    ADD CONSTRAINT schedule_runs_once UNIQUE (schedule_id, due);
ALTER TABLE ONLY public.schedule_runs
    ADD CONSTRAINT schedule_runs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.schedules
    ADD CONSTRAINT schedules_once UNIQUE (tenant_id, name);
ALTER TABLE ONLY public.schedules
    ADD CONSTRAINT schedules_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.servers
    ADD CONSTRAINT servers_once UNIQUE (identifier, timeline);
ALTER TABLE ONLY public.servers
    ADD CONSTRAINT servers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.tenant_books
    ADD CONSTRAINT tenant_books_pkey PRIMARY KEY (tenant_id, version);
ALTER TABLE ONLY public.tenant_hours
    ADD CONSTRAINT tenant_hours_pkey PRIMARY KEY (tenant_id, hour, queue_id, source_type, source_method, outcome);
ALTER TABLE ONLY public.tenant_hours_default
    ADD CONSTRAINT tenant_hours_default_pkey PRIMARY KEY (tenant_id, hour, queue_id, source_type, source_method, outcome);
ALTER TABLE ONLY public.tenant_queues
    ADD CONSTRAINT tenant_queues_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.tenant_queues
    ADD CONSTRAINT tenant_queues_tenant_id_key UNIQUE (tenant_id);
ALTER TABLE ONLY public.full_hours
    ADD CONSTRAINT full_hours_pkey PRIMARY KEY (hour, tenant_id);
ALTER TABLE ONLY public.tenant_shares
    ADD CONSTRAINT tenant_shares_pkey PRIMARY KEY (tenant_id);
ALTER TABLE ONLY public.tenants_apikey
    ADD CONSTRAINT tenants_apikey_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.tenants_apikey
    ADD CONSTRAINT tenants_apikey_prefix_key UNIQUE (prefix);
ALTER TABLE ONLY public.tenants_member
    ADD CONSTRAINT tenants_member_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.tenants_member
    ADD CONSTRAINT tenants_member_user_id_key UNIQUE (user_id);
ALTER TABLE ONLY public.tenants_operatorkey
    ADD CONSTRAINT tenants_operatorkey_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.tenants_operatorkey
    ADD CONSTRAINT tenants_operatorkey_prefix_key UNIQUE (prefix);
ALTER TABLE ONLY public.tenants_tenant
    ADD CONSTRAINT tenants_tenant_mirrored_key_key UNIQUE (mirrored_key);
ALTER TABLE ONLY public.tenants_tenant
    ADD CONSTRAINT tenants_tenant_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.tenants_tenant
    ADD CONSTRAINT tenants_tenant_slug_key UNIQUE (slug);
ALTER TABLE ONLY public.totals
    ADD CONSTRAINT totals_pkey PRIMARY KEY (queue_id, source_type, source_method, outcome);
ALTER TABLE ONLY public.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (id);
CREATE INDEX attempts_ended ON ONLY public.attempts USING brin (ended_at) WITH (pages_per_range='32', autosummarize='on');
CREATE INDEX attempts_default_ended_at_idx ON public.attempts_default USING brin (ended_at) WITH (pages_per_range='32', autosummarize='on');
CREATE INDEX auth_group_name_a6ea08ec_like ON public.auth_group USING btree (name varchar_pattern_ops);
CREATE INDEX auth_group_permissions_group_id_b120cbf9 ON public.auth_group_permissions USING btree (group_id);
CREATE INDEX auth_group_permissions_permission_id_84c5c92e ON public.auth_group_permissions USING btree (permission_id);
CREATE INDEX auth_permission_content_type_id_2f476e4b ON public.auth_permission USING btree (content_type_id);
CREATE INDEX auth_user_groups_group_id_97559544 ON public.auth_user_groups USING btree (group_id);
CREATE INDEX auth_user_groups_user_id_6a12ed8b ON public.auth_user_groups USING btree (user_id);
CREATE INDEX auth_user_user_permissions_permission_id_1fbb5f2c ON public.auth_user_user_permissions USING btree (permission_id);
CREATE INDEX auth_user_user_permissions_user_id_a95ead1b ON public.auth_user_user_permissions USING btree (user_id);
CREATE INDEX auth_user_username_6821ab7c_like ON public.auth_user USING btree (username varchar_pattern_ops);
CREATE INDEX change_subjects_change_id_da8bca50 ON public.change_subjects USING btree (change_id);
CREATE INDEX change_subjects_subject_id_4a42e053 ON public.change_subjects USING btree (subject_id);
CREATE INDEX changes_of_one ON public.changes USING btree (kind, subject_id, at);
CREATE INDEX changes_of_runs ON public.changes USING btree (id DESC) WHERE (bulk IS NOT NULL);
CREATE INDEX changes_of_tenant ON public.changes USING btree (tenant_id, id DESC) WHERE (tenant_id IS NOT NULL);
CREATE UNIQUE INDEX changes_one_of_bulk ON public.changes USING btree (bulk, verb, tenant_id) WHERE (bulk IS NOT NULL);
CREATE INDEX data_reports_source_id_1c60d78e ON public.data_reports USING btree (source_id);
CREATE INDEX data_reports_tenant_id_d2d32477 ON public.data_reports USING btree (tenant_id);
CREATE INDEX data_sources_tenant_id_b2986dad ON public.data_sources USING btree (tenant_id);
CREATE INDEX death_notices_notifier_a0f4353c_like ON public.death_notices USING btree (notifier varchar_pattern_ops);
CREATE INDEX django_admin_log_content_type_id_c4bce8eb ON public.django_admin_log USING btree (content_type_id);
CREATE INDEX django_admin_log_user_id_c564eba6 ON public.django_admin_log USING btree (user_id);
CREATE INDEX django_session_expire_date_a5c62663 ON public.django_session USING btree (expire_date);
CREATE INDEX django_session_session_key_c0390e0f_like ON public.django_session USING btree (session_key varchar_pattern_ops);
CREATE INDEX failed_attempts_crashes ON public.failed_attempts USING btree (end_time) WHERE ((error_class)::text = ANY ((ARRAY['WorkerGone'::character varying, 'ProcessDied'::character varying])::text[]));
CREATE INDEX job_history_by_end ON ONLY public.job_history USING btree (tenant_id, end_time);
CREATE INDEX job_history_of_tenant ON ONLY public.job_history USING btree (tenant_id, id DESC);
CREATE INDEX job_history_rest_tenant_id_end_time_idx ON public.job_history_rest USING btree (tenant_id, end_time);
CREATE INDEX job_history_rest_tenant_id_id_idx ON public.job_history_rest USING btree (tenant_id, id DESC);
CREATE INDEX job_logs_of_tenant ON public.job_logs USING btree (tenant_id);
CREATE INDEX job_memories_of_tenant ON public.job_memories USING btree (tenant_id, id);
CREATE INDEX job_memories_old ON public.job_memories USING btree (touched_at);
CREATE INDEX jobs_claim ON public.jobs USING btree (queue_id, tenant_id, priority, id) WHERE (ready_at IS NOT NULL);
CREATE INDEX jobs_claim_by_user ON public.jobs USING btree (queue_id, tenant_id, user_key, priority, id) WHERE (ready_at IS NOT NULL);
CREATE INDEX jobs_dead ON public.jobs USING btree (died_at) WHERE (died_at IS NOT NULL);
CREATE INDEX jobs_due ON public.jobs USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX jobs_ended ON public.jobs USING btree (end_time) WHERE ((died_at IS NULL) AND (end_time IS NOT NULL));
CREATE INDEX jobs_of_tenant ON public.jobs USING btree (tenant_id, id DESC);
CREATE UNIQUE INDEX jobs_one_identical ON public.jobs USING btree (tenant_id, dedup_key) WHERE ((dedup_key IS NOT NULL) AND (end_time IS NULL));
CREATE UNIQUE INDEX jobs_one_job_per_slot ON public.jobs USING btree (tenant_id, slot) WHERE (slot IS NOT NULL);
CREATE INDEX jobs_scheduled_of_tenant ON public.jobs USING btree (tenant_id) WHERE (due_at IS NOT NULL);
CREATE INDEX kept_answers_old ON public.kept_answers USING btree (created_at);
CREATE INDEX lanes_circle ON public.lanes USING btree (queue_id, "position") WHERE ((state)::text = 'ready'::text);
CREATE INDEX lanes_opening ON public.lanes USING btree (opens_at) WHERE (opens_at IS NOT NULL);
CREATE INDEX queues_name_64bae2e9_like ON public.queues USING btree (name varchar_pattern_ops);
CREATE INDEX queues_pool_0d06842d ON public.queues USING btree (pool);
CREATE INDEX queues_pool_0d06842d_like ON public.queues USING btree (pool varchar_pattern_ops);
CREATE INDEX recorded_task_8bb47476_like ON public.recorded USING btree (task varchar_pattern_ops);
CREATE INDEX repairs_kind_d20f11fc_like ON public.repairs USING btree (kind varchar_pattern_ops);
CREATE INDEX schedule_runs_of_job ON public.schedule_runs USING btree (job_id) WHERE (job_id IS NOT NULL);
CREATE INDEX schedule_runs_old ON public.schedule_runs USING btree (at);
CREATE INDEX schedules_next ON public.schedules USING btree (next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX tenants_apikey_prefix_f43fe9b7_like ON public.tenants_apikey USING btree (prefix varchar_pattern_ops);
CREATE INDEX tenants_apikey_tenant_id_93769949 ON public.tenants_apikey USING btree (tenant_id);
CREATE INDEX tenants_member_tenant_id_5705973e ON public.tenants_member USING btree (tenant_id);
CREATE INDEX tenants_operatorkey_prefix_2b75c641_like ON public.tenants_operatorkey USING btree (prefix varchar_pattern_ops);
CREATE INDEX tenants_operatorkey_user_id_62ee608f ON public.tenants_operatorkey USING btree (user_id);
CREATE INDEX tenants_tenant_mirrored_key_dcdd9c36_like ON public.tenants_tenant USING btree (mirrored_key varchar_pattern_ops);
CREATE UNIQUE INDEX tenants_tenant_name_once ON public.tenants_tenant USING btree (name) WHERE (mirrored_key IS NULL);
CREATE INDEX tenants_tenant_slug_0a9b71e6_like ON public.tenants_tenant USING btree (slug varchar_pattern_ops);
CREATE INDEX workers_live ON public.workers USING btree (pool) WHERE (gone_at IS NULL);
CREATE INDEX workers_pool_65576308 ON public.workers USING btree (pool);
CREATE INDEX workers_pool_65576308_like ON public.workers USING btree (pool varchar_pattern_ops);
ALTER INDEX public.attempts_ended ATTACH PARTITION public.attempts_default_ended_at_idx;
ALTER INDEX public.job_history_pkey ATTACH PARTITION public.job_history_rest_pkey;
ALTER INDEX public.job_history_by_end ATTACH PARTITION public.job_history_rest_tenant_id_end_time_idx;
ALTER INDEX public.job_history_of_tenant ATTACH PARTITION public.job_history_rest_tenant_id_id_idx;
ALTER INDEX public.job_minutes_pkey ATTACH PARTITION public.job_minutes_default_pkey;
ALTER INDEX public.tenant_hours_pkey ATTACH PARTITION public.tenant_hours_default_pkey;
CREATE TRIGGER slot_deleted AFTER DELETE ON public.jobs FOR EACH ROW WHEN ((old.slot IS NOT NULL)) EXECUTE FUNCTION public.slot_deleted();
CREATE TRIGGER tenant_limits_changed AFTER INSERT OR UPDATE ON public.tenant_queues FOR EACH ROW EXECUTE FUNCTION public.tenant_limits_changed();
ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissio_permission_id_84c5c92e_fk_auth_perm FOREIGN KEY (permission_id) REFERENCES public.auth_permission(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_group_id_b120cbf9_fk_auth_group_id FOREIGN KEY (group_id) REFERENCES public.auth_group(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.auth_permission
    ADD CONSTRAINT auth_permission_content_type_id_2f476e4b_fk_django_co FOREIGN KEY (content_type_id) REFERENCES public.django_content_type(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.auth_user_groups
    ADD CONSTRAINT auth_user_groups_group_id_97559544_fk_auth_group_id FOREIGN KEY (group_id) REFERENCES public.auth_group(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.auth_user_groups
    ADD CONSTRAINT auth_user_groups_user_id_6a12ed8b_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.auth_user_user_permissions
    ADD CONSTRAINT auth_user_user_permi_permission_id_1fbb5f2c_fk_auth_perm FOREIGN KEY (permission_id) REFERENCES public.auth_permission(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.auth_user_user_permissions
    ADD CONSTRAINT auth_user_user_permissions_user_id_a95ead1b_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.change_subjects
    ADD CONSTRAINT change_subjects_change_id_da8bca50_fk_changes_id FOREIGN KEY (change_id) REFERENCES public.changes(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.data_reports
    ADD CONSTRAINT data_reports_source_id_1c60d78e_fk_data_sources_id FOREIGN KEY (source_id) REFERENCES public.data_sources(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.data_reports
    ADD CONSTRAINT data_reports_source_of_same_tenant FOREIGN KEY (tenant_id, source_id) REFERENCES public.data_sources(tenant_id, id);
ALTER TABLE ONLY public.data_reports
    ADD CONSTRAINT data_reports_tenant_id_d2d32477_fk_tenants_tenant_id FOREIGN KEY (tenant_id) REFERENCES public.tenants_tenant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.data_sources
    ADD CONSTRAINT data_sources_tenant_id_b2986dad_fk_tenants_tenant_id FOREIGN KEY (tenant_id) REFERENCES public.tenants_tenant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.django_admin_log
    ADD CONSTRAINT django_admin_log_content_type_id_c4bce8eb_fk_django_co FOREIGN KEY (content_type_id) REFERENCES public.django_content_type(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.django_admin_log
    ADD CONSTRAINT django_admin_log_user_id_c564eba6_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.failed_attempts
    ADD CONSTRAINT failed_attempts_job_id_9e2ca6fa_fk_jobs_id FOREIGN KEY (job_id) REFERENCES public.jobs(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.schedule_runs
    ADD CONSTRAINT schedule_runs_schedule_id_584c816c_fk_schedules_id FOREIGN KEY (schedule_id) REFERENCES public.schedules(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.tenant_queues
    ADD CONSTRAINT tenant_queues_tenant_id_f07bb9b9_fk_tenants_tenant_id FOREIGN KEY (tenant_id) REFERENCES public.tenants_tenant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.tenants_apikey
    ADD CONSTRAINT tenants_apikey_tenant_id_93769949_fk_tenants_tenant_id FOREIGN KEY (tenant_id) REFERENCES public.tenants_tenant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.tenants_member
    ADD CONSTRAINT tenants_member_tenant_id_5705973e_fk_tenants_tenant_id FOREIGN KEY (tenant_id) REFERENCES public.tenants_tenant(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.tenants_member
    ADD CONSTRAINT tenants_member_user_id_bab66e1c_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE ONLY public.tenants_operatorkey
    ADD CONSTRAINT tenants_operatorkey_user_id_62ee608f_fk_auth_user_id FOREIGN KEY (user_id) REFERENCES public.auth_user(id) DEFERRABLE INITIALLY DEFERRED;

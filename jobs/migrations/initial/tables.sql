-- Django can make neither partitioned tables nor views. Until the clock has made a partition, rows go to the default one.

-- The history of ended jobs; the clock makes a partition for each month.
CREATE TABLE job_history (
    LIKE jobs,
    failed_attempts jsonb NOT NULL,
    PRIMARY KEY (id, end_time),
    CONSTRAINT job_history_ended CHECK (status IN ('success', 'error', 'cancelled'))
) PARTITION BY RANGE (end_time);
ALTER TABLE job_history DROP COLUMN followed; -- of a job that holds a slot
CREATE TABLE job_history_rest PARTITION OF job_history DEFAULT;
CREATE INDEX job_history_of_tenant ON job_history (tenant_id, id DESC);
CREATE INDEX job_history_by_end ON job_history (tenant_id, end_time);

-- The statistics, partitioned by day; the recorder makes the days ahead and drops old ones (jobs/store/partitions.py). `attempts` has one
-- index, which costs an insert nothing: it notes the first and last moment of each 32 pages.
CREATE TABLE attempts (
    ended_at timestamptz NOT NULL,
    start_time timestamptz NOT NULL,
    queued_at timestamptz,
    waited_since timestamptz,
    job_id bigint NOT NULL,
    tenant_id bigint NOT NULL,
    queue_id bigint NOT NULL,
    worker uuid,
    attempt int NOT NULL,
    result_bytes int,
    peak_memory int,
    priority smallint NOT NULL,
    outcome varchar(9) NOT NULL,
    source_type varchar(200) NOT NULL,
    source_method varchar(100) NOT NULL,
    user_key varchar(100) NOT NULL
) PARTITION BY RANGE (ended_at);
CREATE TABLE attempts_default PARTITION OF attempts DEFAULT;
CREATE INDEX attempts_ended ON attempts USING brin (ended_at) WITH (pages_per_range = 32, autosummarize = on);

CREATE TABLE job_minutes (
    minute timestamptz,
    queue_id bigint,
    source_type varchar(200),
    source_method varchar(100),
    outcome varchar(9),
    attempts int NOT NULL,
    run_seconds float8 NOT NULL,
    wait_seconds float8 NOT NULL,
    run_buckets int[] NOT NULL,
    wait_buckets int[] NOT NULL,
    PRIMARY KEY (minute, queue_id, source_type, source_method, outcome)
) PARTITION BY RANGE (minute);
CREATE TABLE job_minutes_default PARTITION OF job_minutes DEFAULT;

CREATE TABLE tenant_hours (
    tenant_id bigint,
    hour timestamptz,
    queue_id bigint,
    source_type varchar(200),
    source_method varchar(100),
    outcome varchar(9),
    attempts int NOT NULL,
    run_seconds float8 NOT NULL,
    wait_seconds float8 NOT NULL,
    run_buckets int[] NOT NULL,
    wait_buckets int[] NOT NULL,
    PRIMARY KEY (tenant_id, hour, queue_id, source_type, source_method, outcome)
) PARTITION BY RANGE (hour);
CREATE TABLE tenant_hours_default PARTITION OF tenant_hours DEFAULT;

-- All jobs, and all that failed of them, wherever they are.
CREATE VIEW all_jobs AS
SELECT
    id, tenant_id, queue_id, priority, user_key, source_type, source_id, source_method, args, dedup_key, status, slot,
    ticket, attempt, crashes, barred, retries, max_retries, timeout, memory, worker, worker_pid, created_at, due_at,
    ready_at, queued_at, handed_at, start_time, end_time, cancel_requested_at, died_at, progress, progress_note, stats,
    last_error, result_expires_at, result_bytes, waited_since, peak_memory, trace_parent
FROM jobs
UNION ALL
SELECT
    id, tenant_id, queue_id, priority, user_key, source_type, source_id, source_method, args, dedup_key, status, slot,
    ticket, attempt, crashes, barred, retries, max_retries, timeout, memory, worker, worker_pid, created_at, due_at,
    ready_at, queued_at, handed_at, start_time, end_time, cancel_requested_at, died_at, progress, progress_note, stats,
    last_error, result_expires_at, result_bytes, waited_since, peak_memory, trace_parent
FROM job_history;

CREATE VIEW all_failed_attempts AS
SELECT job_id, attempt, error_class, error, traceback, worker, queued_at, start_time, end_time FROM failed_attempts
UNION ALL
SELECT h.id, a.* FROM job_history h CROSS JOIN jsonb_to_recordset(h.failed_attempts) AS a (
    attempt int, error_class varchar, error text, traceback text, worker uuid,
    queued_at timestamptz, start_time timestamptz, end_time timestamptz
);

-- Django can make no partitioned table. Until the clock has made a partition, rows go to the default one.

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
    worker_pid int,
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

-- A row that found no partition moves or is deleted. Where a publication has all tables, for logical replication or Debezium,
-- PostgreSQL refuses that of a table without a primary key, unless it may tell the whole row.
ALTER TABLE attempts_default REPLICA IDENTITY FULL;

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

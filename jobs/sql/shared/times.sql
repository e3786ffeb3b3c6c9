-- The times of the attempts in `ended`, as columns of their tally. `bounds` are the seconds between the buckets of the
-- histograms. Intervals add up exactly, in any order: the same attempts give the same row.
count(*)::int AS attempts,
date_part('epoch', sum(ran)) AS run_seconds,
coalesce(date_part('epoch', sum(waited)), 0) AS wait_seconds,
histogram(array_agg(width_bucket(date_part('epoch', ran), %(bounds)s::float8[])), cardinality(%(bounds)s::float8[])) AS run_buckets,
histogram(array_agg(width_bucket(date_part('epoch', waited), %(bounds)s::float8[])), cardinality(%(bounds)s::float8[])) AS wait_buckets,
coalesce(date_part('epoch', sum(waited_for_process)), 0) AS process_wait_seconds,
histogram(
    array_agg(width_bucket(date_part('epoch', waited_for_process), %(bounds)s::float8[])), cardinality(%(bounds)s::float8[])
) AS process_wait_buckets,
count(waited_for_process) FILTER (WHERE target IS NOT NULL)::int AS targeted,
count(*) FILTER (WHERE waited_for_process <= target)::int AS in_time

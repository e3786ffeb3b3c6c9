-- The histograms of run times and of waits, added.
ARRAY[
    sum(run_buckets[1]), sum(run_buckets[2]), sum(run_buckets[3]), sum(run_buckets[4]), sum(run_buckets[5]),
    sum(run_buckets[6]), sum(run_buckets[7]), sum(run_buckets[8]), sum(run_buckets[9]), sum(run_buckets[10]),
    sum(run_buckets[11]), sum(run_buckets[12]), sum(run_buckets[13]), sum(run_buckets[14]), sum(run_buckets[15]),
    sum(run_buckets[16]), sum(run_buckets[17]), sum(run_buckets[18]), sum(run_buckets[19]), sum(run_buckets[20]),
    sum(run_buckets[21]), sum(run_buckets[22]), sum(run_buckets[23]), sum(run_buckets[24]), sum(run_buckets[25]),
    sum(run_buckets[26]), sum(run_buckets[27]), sum(run_buckets[28]), sum(run_buckets[29]), sum(run_buckets[30]),
    sum(run_buckets[31]), sum(run_buckets[32]), sum(run_buckets[33]), sum(run_buckets[34]), sum(run_buckets[35]),
    sum(run_buckets[36]), sum(run_buckets[37]), sum(run_buckets[38]), sum(run_buckets[39]), sum(run_buckets[40]),
    sum(run_buckets[41])
] AS run_buckets,
-- include shared/waits_added

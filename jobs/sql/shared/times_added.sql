-- The histograms of run times and of both waits, added.
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
, ARRAY[
    sum(process_wait_buckets[1]), sum(process_wait_buckets[2]), sum(process_wait_buckets[3]), sum(process_wait_buckets[4]), sum(process_wait_buckets[5]),
    sum(process_wait_buckets[6]), sum(process_wait_buckets[7]), sum(process_wait_buckets[8]), sum(process_wait_buckets[9]), sum(process_wait_buckets[10]),
    sum(process_wait_buckets[11]), sum(process_wait_buckets[12]), sum(process_wait_buckets[13]), sum(process_wait_buckets[14]), sum(process_wait_buckets[15]),
    sum(process_wait_buckets[16]), sum(process_wait_buckets[17]), sum(process_wait_buckets[18]), sum(process_wait_buckets[19]), sum(process_wait_buckets[20]),
    sum(process_wait_buckets[21]), sum(process_wait_buckets[22]), sum(process_wait_buckets[23]), sum(process_wait_buckets[24]), sum(process_wait_buckets[25]),
    sum(process_wait_buckets[26]), sum(process_wait_buckets[27]), sum(process_wait_buckets[28]), sum(process_wait_buckets[29]), sum(process_wait_buckets[30]),
    sum(process_wait_buckets[31]), sum(process_wait_buckets[32]), sum(process_wait_buckets[33]), sum(process_wait_buckets[34]), sum(process_wait_buckets[35]),
    sum(process_wait_buckets[36]), sum(process_wait_buckets[37]), sum(process_wait_buckets[38]), sum(process_wait_buckets[39]), sum(process_wait_buckets[40]),
    sum(process_wait_buckets[41])
] AS process_wait_buckets

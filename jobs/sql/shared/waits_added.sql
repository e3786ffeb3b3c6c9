-- The histograms of waits added, bucket by bucket: in a tenth of the time that an aggregate in PL/pgSQL takes.
ARRAY[
    sum(wait_buckets[1]), sum(wait_buckets[2]), sum(wait_buckets[3]), sum(wait_buckets[4]), sum(wait_buckets[5]),
    sum(wait_buckets[6]), sum(wait_buckets[7]), sum(wait_buckets[8]), sum(wait_buckets[9]), sum(wait_buckets[10]),
    sum(wait_buckets[11]), sum(wait_buckets[12]), sum(wait_buckets[13]), sum(wait_buckets[14]), sum(wait_buckets[15]),
    sum(wait_buckets[16]), sum(wait_buckets[17]), sum(wait_buckets[18]), sum(wait_buckets[19]), sum(wait_buckets[20]),
    sum(wait_buckets[21]), sum(wait_buckets[22]), sum(wait_buckets[23]), sum(wait_buckets[24]), sum(wait_buckets[25]),
    sum(wait_buckets[26]), sum(wait_buckets[27]), sum(wait_buckets[28]), sum(wait_buckets[29]), sum(wait_buckets[30]),
    sum(wait_buckets[31]), sum(wait_buckets[32]), sum(wait_buckets[33]), sum(wait_buckets[34]), sum(wait_buckets[35]),
    sum(wait_buckets[36]), sum(wait_buckets[37]), sum(wait_buckets[38]), sum(wait_buckets[39]), sum(wait_buckets[40]),
    sum(wait_buckets[41])
] AS wait_buckets

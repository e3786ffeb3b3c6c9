-- Change: let each further statement of this transaction give up after so many milliseconds, and take a plan that does not
--         depend on how old the statistics of a table are. Who: the looks of health, of metrics and of the operators' pages:
--         a slow look must not hold up what it looks at. Locks: none.
SELECT
    set_config('statement_timeout', %(milliseconds)s::text, true),
    set_config('enable_seqscan', 'off', true),
    set_config('enable_bitmapscan', 'off', true),
    set_config('enable_sort', 'off', true),
    set_config('jit', 'off', true)

-- Change: let each further statement of this transaction give up after so many milliseconds. Who: the looks of health, of
--         metrics and of the operators' pages: a slow look must not hold up what it looks at.
SELECT set_config('statement_timeout', %(milliseconds)s::text, true)

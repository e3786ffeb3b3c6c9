-- Amounts by unit, such as {"tokens": 1840}. null adds nothing.
CREATE FUNCTION add_units(a jsonb, b jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (
    SELECT jsonb_object_agg(name, n)
    FROM (
        SELECT name, sum(n::numeric) AS n
        FROM (SELECT * FROM jsonb_each_text(a) UNION ALL SELECT * FROM jsonb_each_text(b)) AS each_one (name, n)
        GROUP BY name
    ) sums
);

CREATE AGGREGATE sum_units(jsonb) (sfunc = add_units, stype = jsonb, combinefunc = add_units, parallel = safe);

-- What is left of `a` without `b`; null if that is nothing.
CREATE FUNCTION less_units(a jsonb, b jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT jsonb_object_agg(name, n)
    FROM (
        SELECT name, value::numeric - coalesce((b ->> name)::numeric, 0) AS n FROM jsonb_each_text(a) AS each_one (name, value)
    ) sums
    WHERE n <> 0
);

-- The month of a moment, in UTC.
CREATE FUNCTION month_of(moment timestamptz) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM');

-- The budgets of all tenants, with what their attempts used in the month of that moment, as far as a dispatch has seen them.
CREATE FUNCTION budgets_at(moment timestamptz) RETURNS TABLE (tenant_id bigint, unit text, amount bigint, used bigint)
LANGUAGE sql STABLE AS $$
    SELECT q.tenant_id, b.unit, b.amount::bigint, coalesce((book.used -> month_of(moment) ->> b.unit)::bigint, 0)
    FROM tenant_queues q
    CROSS JOIN LATERAL jsonb_each_text(q.budgets) AS b (unit, amount)
    LEFT JOIN LATERAL (
        SELECT t.used FROM tenant_books t WHERE t.tenant_id = q.tenant_id ORDER BY t.version DESC LIMIT 1
    ) book ON true
    WHERE q.budgets <> '{}'
$$;

-- Add to what a tenant has used (`used`: of its book, by month and unit) what the freed slots tell (`news`: a list of the same
-- form, or null); and note which of its budgets are used up in the present month. Only inside the door: so nobody waits for these
-- rows. The setting tells the claim of the same transaction that another budget is used up, or one no longer is.
CREATE FUNCTION spend(tenant bigint, used jsonb, news jsonb, now timestamptz) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    sums jsonb := used;
    spent text[];
    changed boolean;
BEGIN
    IF news IS NOT NULL THEN
        SELECT jsonb_object_agg(month, units) INTO sums
        FROM (
            SELECT month, sum_units(units) AS units
            FROM (
                SELECT * FROM jsonb_each(coalesce(used, '{}'))
                UNION ALL
                SELECT of_month.* FROM jsonb_array_elements(news) AS n (one) CROSS JOIN jsonb_each(n.one) AS of_month
            ) AS each_one (month, units)
            WHERE month >= month_of(now - interval '1 month')
            GROUP BY month
        ) months;
    END IF;
    spent := ARRAY(
        SELECT budget.unit FROM tenant_queues q CROSS JOIN jsonb_each_text(q.budgets) AS budget (unit, amount)
        WHERE q.tenant_id = tenant
          AND coalesce((sums -> month_of(now) ->> budget.unit)::numeric, 0) >= budget.amount::numeric
    );
    DELETE FROM spent_budgets WHERE tenant_id = tenant AND unit <> ALL(spent);
    changed := FOUND;
    INSERT INTO spent_budgets (tenant_id, unit, since) SELECT tenant, unit, now FROM unnest(spent) AS unit
    ON CONFLICT DO NOTHING;
    IF FOUND OR changed THEN
        PERFORM set_config('jobs.spent', 'true', true);
    END IF;
    RETURN sums;
END
$$;

import jobs.models.dispatch
from django.db import migrations, models

from tenants.names import named, with_our_names

# in_ms: a ticket. worked_since: the seconds that n jobs have had their slots, whose tickets add up to `held`. rate_after: when a
# token bucket will be full again, after n further tokens. tally: counts, with each of these keys counted once more, or less.
# front_by_user: the first jobs of a lane whose tenant limits its users (jobs/sql/claiming/claim/walk.sql). They take turns: it
# looks at 32 users from `after` on, and at the full ones in between, and returns the places of their jobs in the order of the lane:
# first those that may start, then some that replace locked ones of their user, which the claim cuts again. startable: how many of
# the first may start. last_user, all_users: where the turns end, and whether all users of the lane were seen. If users have 0
# slots, only jobs without a user go. slot_deleted: with its tenant, say, a job is deleted while it holds a slot; that must leave the
# books, too.
FUNCTIONS = """
CREATE FUNCTION in_ms(at timestamptz) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
RETURN (date_part('epoch', at) * 1000)::bigint;

CREATE FUNCTION worked_since(n int, held bigint, now timestamptz) RETURNS float8 LANGUAGE sql STABLE PARALLEL SAFE
RETURN greatest(n * in_ms(now) - held, 0) / 1000.0::float8;

CREATE FUNCTION rate_after(allowed int, seconds float8, full_at timestamptz, now timestamptz, n int) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN allowed IS NOT NULL THEN greatest(full_at, now) + n * seconds / allowed * interval '1 second' END;

CREATE FUNCTION tally(counts jsonb, keys text[], by int) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT coalesce(jsonb_object_agg(key, n), '{}')
    FROM (
        SELECT key, sum(n) AS n
        FROM (
            SELECT key, value::int AS n FROM jsonb_each_text(counts)
            UNION ALL
            SELECT key, by FROM unnest(keys) AS key WHERE key <> ''
        ) each_one
        GROUP BY key
        HAVING sum(n) > 0
    ) summed
);

CREATE TYPE lane_front AS (places bigint[], startable int, last_user text, all_users boolean);

CREATE FUNCTION front_by_user(
    of_queue bigint, of_tenant bigint, after text, users jsonb, most_of_user int, wanted int
) RETURNS lane_front LANGUAGE plpgsql STABLE AS $$
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

CREATE FUNCTION slot_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE TRIGGER slot_deleted AFTER DELETE ON jobs FOR EACH ROW WHEN (OLD.slot IS NOT NULL) EXECUTE FUNCTION slot_deleted();
"""
DROP_FUNCTIONS = """
DROP TRIGGER slot_deleted ON jobs;
DROP FUNCTION slot_deleted;
DROP FUNCTION front_by_user;
DROP TYPE lane_front;
DROP FUNCTION tally, rate_after, worked_since, in_ms;
"""

# The books of what is running. An end of the release before does not say which slot it frees: a fold that meets one has the books
# counted anew; so does what ends between these statements.
COUNT = """
UPDATE jobs SET ticket = in_ms(coalesce(queued_at, clock_timestamp())) WHERE slot IS NOT NULL;

UPDATE lanes SET in_use = h.n, held = h.held
FROM (
    SELECT tenant_id, queue_id, count(*) AS n, sum(ticket) AS held FROM jobs WHERE slot IS NOT NULL
    GROUP BY tenant_id, queue_id
) h
WHERE lanes.tenant_id = h.tenant_id AND lanes.queue_id = h.queue_id;

UPDATE queue_turns SET in_use = h.n, held = h.held
FROM (SELECT queue_id, count(*) AS n, sum(ticket) AS held FROM jobs WHERE slot IS NOT NULL GROUP BY queue_id) h
WHERE queue_turns.queue_id = h.queue_id;

INSERT INTO tenant_books (tenant_id, version, in_use, slots, full_at)
SELECT tenant_id, 0, coalesce(h.n, 0), coalesce(h.slots, '{}'), b.full_at
FROM (SELECT DISTINCT tenant_id FROM lanes) l
FULL JOIN (
    SELECT tenant_id, count(*) AS n, range_agg(int4range(slot, slot + 1)) AS slots FROM jobs WHERE slot IS NOT NULL
    GROUP BY tenant_id
) h USING (tenant_id)
LEFT JOIN tenant_buckets b USING (tenant_id);
"""


class Migration(migrations.Migration):
    """The door keeps books of what is in use: docs/adr/0030."""

    dependencies = [
        (named('jobs'), '0019_followed'),
    ]

    operations = [
        # No dispatch may decide meanwhile. Those of the release before fail from now on, since they keep no books.
        migrations.RunSQL("SELECT pg_advisory_xact_lock(hashtext('jobs.door'), 0)", migrations.RunSQL.noop),
        # An index is dropped under a lock that everybody else waits for. Below deadlock_timeout (1 s): of two who wait for each
        # other, this one gives up. Then migrate again.
        migrations.RunSQL("SET LOCAL lock_timeout = '900ms'", migrations.RunSQL.noop),
        migrations.RunSQL(with_our_names(FUNCTIONS), with_our_names(DROP_FUNCTIONS)),
        migrations.CreateModel(
            name='TenantBook',
            fields=[
                ('pk', models.CompositePrimaryKey('tenant_id', 'version', blank=True, editable=False, primary_key=True, serialize=False)),
                ('tenant_id', models.BigIntegerField()),
                ('version', models.BigIntegerField()),
                ('in_use', models.IntegerField()),
                ('slots', jobs.models.dispatch.Numbers()),
                ('users', models.JSONField(null=True)),
                ('full_at', models.DateTimeField(null=True)),
            ],
            options={
                'db_table': named('tenant_books'),
            },
        ),
        migrations.RemoveIndex(
            model_name='job',
            name='jobs_in_use',
        ),
        migrations.RemoveField(
            model_name='door',
            name='horizon',
        ),
        migrations.RemoveField(
            model_name='door',
            name='survivors',
        ),
        migrations.AddField(
            model_name='freedslot',
            name='slot',
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='freedslot',
            name='ticket',
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='freedslot',
            name='user_key',
            field=models.CharField(max_length=100, null=True),
        ),
        migrations.AddField(
            model_name='lane',
            name='held',
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='lane',
            name='in_use',
            field=models.IntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='queueturn',
            name='held',
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='queueturn',
            name='in_use',
            field=models.IntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='queueturn',
            name='growth',
            field=models.FloatField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='queueturn',
            name='round_growth',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='queueturn',
            name='timed_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='queueturn',
            name='mean_seconds',
            field=models.FloatField(db_default=0, default=0),
        ),
        migrations.AlterField(
            model_name='queueturn',
            name='circle_end',
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.AlterField(
            model_name='queueturn',
            name='head',
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.AlterField(
            model_name='queueturn',
            name='lane_time',
            field=models.FloatField(db_default=0, default=0),
        ),
        migrations.AlterField(
            model_name='queueturn',
            name='pool_time',
            field=models.FloatField(db_default=0, default=0),
        ),
        migrations.AlterField(
            model_name='queueturn',
            name='virtual_time',
            field=models.FloatField(db_default=0, default=0),
        ),
        migrations.AddConstraint(
            model_name='lane',
            constraint=models.CheckConstraint(condition=models.Q(('in_use__gte', 0)), name='lanes_in_use_from_0'),
        ),
        migrations.AddConstraint(
            model_name='queueturn',
            constraint=models.CheckConstraint(condition=models.Q(('in_use__gte', 0)), name='queue_turns_in_use_from_0'),
        ),
        migrations.AddConstraint(
            model_name='tenantbook',
            constraint=models.CheckConstraint(condition=models.Q(('in_use__gte', 0)), name='tenant_books_in_use_from_0'),
        ),
        migrations.RunSQL(with_our_names(COUNT), migrations.RunSQL.noop),
        migrations.DeleteModel(
            name='TenantBucket',
        ),
    ]

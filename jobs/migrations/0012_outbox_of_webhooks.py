"""Messages of webhooks are no jobs any more: the statement that ends a job stores one for each endpoint in an outbox.

Ends that were noted, and are not yet told, become messages. Messages that are jobs already turn into such ones when they
run (jobs/engine/webhooks/deliver.py).
"""

from django.db import migrations, models

from tenants.migrations._operations import WAIT_BRIEFLY
from plumbing.names import named, with_our_names

WANTED = """
e.off_at IS NULL AND e.created_at <= ended.created_at
AND (e.types = '{}' OR ended.source_type || '.' || ended.source_method = ANY (e.types))
AND (e.batches = '{}' OR b.name = ANY (e.batches))
"""
DATA = """jsonb_build_object(
    'id', ended.id, 'status', ended.status, 'attempt', ended.attempt, 'source_type', ended.source_type,
    'source_id', ended.source_id, 'source_method', ended.source_method,
    'batch', CASE WHEN b.id IS NOT NULL THEN jsonb_build_object('id', b.id, 'name', b.name) END,
    'error', CASE WHEN ended.status IN ('error', 'dead') THEN split_part(ended.last_error, ': ', 1) ELSE '' END
)"""
# When the trigger is gone, whoever was ending a job has committed: no event comes after those that are read here.
FORWARD = f"""
DROP TRIGGER announced_job_ended ON jobs;
CREATE SEQUENCE webhook_seq;
SELECT setval('webhook_seq', nextval(pg_get_serial_sequence('webhook_events', 'id')::regclass));
INSERT INTO webhook_messages (endpoint_id, event, ended_at, user_key, data)
SELECT e.id, v.id, v.ended_at, ended.user_key, {DATA} || jsonb_build_object('status', v.status, 'attempt', v.attempt)
FROM webhook_events v
JOIN all_jobs ended ON ended.id = v.job_id AND ended.tenant_id = v.tenant_id
JOIN webhook_endpoints e ON e.tenant_id = v.tenant_id
LEFT JOIN batches b ON b.id = ended.batch_id
WHERE {WANTED};
CREATE OR REPLACE FUNCTION announced_job_ended() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    ended ALIAS FOR NEW;
    number bigint := nextval('webhook_seq');
BEGIN
    INSERT INTO webhook_messages (endpoint_id, event, ended_at, user_key, data)
    SELECT e.id, number, ended.end_time, ended.user_key, {DATA}
    FROM webhook_endpoints e
    LEFT JOIN batches b ON b.id = ended.batch_id
    WHERE e.tenant_id = ended.tenant_id AND {WANTED};
    RETURN NULL;
END
$$;
CREATE TRIGGER announced_job_ended AFTER UPDATE OF status ON jobs
FOR EACH ROW WHEN (NEW.announced AND OLD.end_time IS NULL AND NEW.end_time IS NOT NULL)
EXECUTE FUNCTION announced_job_ended();
"""
BACK = """
CREATE OR REPLACE FUNCTION announced_job_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO webhook_events (tenant_id, job_id, attempt, status, ended_at)
    VALUES (NEW.tenant_id, NEW.id, NEW.attempt, NEW.status, NEW.end_time);
    RETURN NULL;
END
$$;
DROP SEQUENCE webhook_seq;
"""


def key(*columns):
    return models.CompositePrimaryKey(*columns, blank=True, editable=False, primary_key=True, serialize=False)


class Migration(migrations.Migration):

    dependencies = [(named('jobs'), '0011_undeclared_schedules')]

    operations = [
        WAIT_BRIEFLY,
        migrations.AddField('webhookendpoint', 'former_salt', models.CharField(db_default='', default='', max_length=64)),
        migrations.AddField('webhookendpoint', 'former_until', models.DateTimeField(null=True)),
        migrations.AddField('webhookendpoint', 'failures', models.IntegerField(db_default=0, default=0)),
        migrations.AddField('webhookendpoint', 'tried_at', models.DateTimeField(null=True)),
        migrations.AddField('webhookendpoint', 'next_at', models.DateTimeField(null=True)),
        migrations.AddField('webhookendpoint', 'turn', models.BigIntegerField(db_default=0, default=0)),
        migrations.AddField('webhookendpoint', 'taken_until', models.DateTimeField(null=True)),
        migrations.CreateModel(
            name='WebhookMessage',
            fields=[
                ('pk', key('endpoint_id', 'event')),
                ('endpoint_id', models.BigIntegerField()),
                ('event', models.BigIntegerField()),
                ('ended_at', models.DateTimeField()),
                ('user_key', models.CharField(max_length=100)),
                ('data', models.JSONField()),
                ('tries', models.IntegerField(db_default=0, default=0)),
                ('next_at', models.DateTimeField(null=True)),
            ],
            options={'db_table': named('webhook_messages'), 'default_permissions': ()},
        ),
        migrations.CreateModel(
            name='WebhookHour',
            fields=[
                ('pk', key('endpoint_id', 'hour')),
                ('endpoint_id', models.BigIntegerField()),
                ('hour', models.DateTimeField()),
                ('delivered', models.IntegerField(db_default=0, default=0)),
                ('failed', models.IntegerField(db_default=0, default=0)),
                ('dropped', models.IntegerField(db_default=0, default=0)),
            ],
            options={'db_table': named('webhook_hours'), 'default_permissions': ()},
        ),
        migrations.RunSQL(with_our_names(FORWARD), with_our_names(BACK)),
        migrations.DeleteModel('WebhookEvent'),
    ]

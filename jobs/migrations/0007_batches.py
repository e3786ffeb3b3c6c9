"""Batches: jobs that belong together."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

import tenants.tenant_key
from tenants.conf import TENANT_MODEL
from tenants.names import named, with_our_names

COLUMNS = """
    id, tenant_id, queue_id, priority, user_key, source_type, source_id, source_method, args, dedup_key, status, slot,
    ticket, attempt, crashes, barred, retries, max_retries, timeout, memory, worker, worker_pid, created_at, due_at,
    ready_at, queued_at, handed_at, start_time, end_time, cancel_requested_at, died_at, progress, progress_note, stats,
    last_error, result_expires_at, result_bytes, waited_since, peak_memory, trace_parent, expires_at, reason
"""
# Whoever ends, revives or deletes a job that others wait for, or that belongs to a batch, leaves news for the reader of ends.
TRIGGERS = """
DROP TRIGGER awaited_job_ended ON jobs;
DROP TRIGGER awaited_job_deleted ON jobs;
DROP FUNCTION awaited_job_ended;

CREATE FUNCTION awaited_job_ended() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    now text := 'cancelled';
    awaited boolean := OLD.awaited;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        now := NEW.status;
        awaited := NEW.awaited;
    END IF;
    INSERT INTO job_ends (xid, job_id, batch_id, success, error, dead, cancelled)
    VALUES (
        pg_current_xact_id()::text::bigint, CASE WHEN awaited THEN OLD.id END, OLD.batch_id,
        (now = 'success')::int - (OLD.status = 'success')::int, (now = 'error')::int - (OLD.status = 'error')::int,
        (now = 'dead')::int - (OLD.status = 'dead')::int, (now = 'cancelled')::int - (OLD.status = 'cancelled')::int
    );
    RETURN NULL;
END
$$;

CREATE TRIGGER awaited_job_ended AFTER UPDATE OF status ON jobs
FOR EACH ROW WHEN (
    (NEW.awaited OR NEW.batch_id IS NOT NULL) AND OLD.status <> NEW.status
    AND (OLD.end_time IS NOT NULL OR NEW.end_time IS NOT NULL)
)
EXECUTE FUNCTION awaited_job_ended();

CREATE TRIGGER awaited_job_deleted AFTER DELETE ON jobs
FOR EACH ROW WHEN ((OLD.awaited OR OLD.batch_id IS NOT NULL) AND OLD.end_time IS NULL)
EXECUTE FUNCTION awaited_job_ended();
"""


def view(columns):
    return with_our_names(f"""
DROP VIEW all_jobs;
CREATE VIEW all_jobs AS
SELECT {columns} FROM jobs
UNION ALL
SELECT {columns} FROM job_history;
""")


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(TENANT_MODEL),
        (named('jobs'), '0006_usage'),
    ]

    operations = [
        migrations.CreateModel(
            name='Batch',
            fields=[
                ('id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200)),
                ('user_key', models.CharField(blank=True, default='', max_length=100)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('closed_at', models.DateTimeField(null=True)),
                ('added', models.IntegerField(db_default=0, default=0)),
                ('tenant', tenants.tenant_key.TenantKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=TENANT_MODEL)),
            ],
            options={
                'verbose_name_plural': 'batches',
                'db_table': named('batches'),
                'indexes': [models.Index(fields=['tenant', '-id'], name='batches_of_tenant')],
                'constraints': [models.CheckConstraint(condition=models.Q(('added__gte', 0)), name='batches_added_from_0')],
            },
        ),
        migrations.CreateModel(
            name='BatchTally',
            fields=[
                ('batch', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='tally', serialize=False, to=named('jobs.batch'))),
                ('success', models.IntegerField(db_default=0, default=0)),
                ('error', models.IntegerField(db_default=0, default=0)),
                ('dead', models.IntegerField(db_default=0, default=0)),
                ('cancelled', models.IntegerField(db_default=0, default=0)),
            ],
            options={
                'db_table': named('batch_tallies'),
                'default_permissions': (),
            },
        ),
        migrations.AddField('job', 'batch_id', models.BigIntegerField(null=True)),
        migrations.AddField('archivedjob', 'batch_id', models.BigIntegerField(null=True)),
        migrations.AddIndex('job', models.Index(condition=models.Q(('batch_id__isnull', False)), fields=['batch_id', '-id'], name='jobs_of_batch')),
        migrations.AddIndex(
            'job',
            models.Index(
                condition=models.Q(('batch_id__isnull', False), ('end_time__isnull', True)),
                fields=['batch_id', 'id'],
                name='jobs_open_of_batch',
            ),
        ),
        migrations.AddIndex('archivedjob', models.Index(condition=models.Q(('batch_id__isnull', False)), fields=['batch_id', '-id'], name='job_history_of_batch')),
        migrations.AlterField('jobend', 'job_id', models.BigIntegerField(null=True)),
        migrations.AddField('jobend', 'batch_id', models.BigIntegerField(null=True)),
        migrations.AddField('jobend', 'success', models.SmallIntegerField(db_default=0, default=0)),
        migrations.AddField('jobend', 'error', models.SmallIntegerField(db_default=0, default=0)),
        migrations.AddField('jobend', 'dead', models.SmallIntegerField(db_default=0, default=0)),
        migrations.AddField('jobend', 'cancelled', models.SmallIntegerField(db_default=0, default=0)),
        migrations.RunSQL(view(COLUMNS + ', batch_id'), view(COLUMNS)),
        migrations.RunSQL(with_our_names(TRIGGERS), migrations.RunSQL.noop),
    ]

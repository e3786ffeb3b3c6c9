"""All that came after 0.1.0: jobs that expire, wait for others, replace others or belong to a batch; usage, webhooks,
forecasts, what a replay needs; dead jobs grouped by the shape of their error; one check of a whole row."""

from pathlib import Path

import django.db.models.deletion
import django.db.models.functions.datetime
import tenants.tenant_key
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

from tenants.conf import TENANT_MODEL
from tenants.migrations._operations import WAIT_BRIEFLY
from plumbing.names import named, with_our_names

STATUSES = ('blocked', 'scheduled', 'created', 'queued', 'running', 'success', 'error', 'dead', 'cancelled')
COLUMNS = """
    id, tenant_id, queue_id, priority, user_key, source_type, source_id, source_method, args, dedup_key, status, slot,
    ticket, attempt, crashes, barred, retries, max_retries, timeout, memory, worker, worker_pid, created_at, due_at,
    ready_at, queued_at, handed_at, start_time, end_time, cancel_requested_at, died_at, progress, progress_note, stats,
    last_error, result_expires_at, result_bytes, waited_since, peak_memory, trace_parent
"""
DROP_TRIGGERS = """
DROP TRIGGER left_line ON jobs;
DROP FUNCTION left_line;
DROP TRIGGER limits_changed ON paused_job_types;
DROP TRIGGER limits_changed ON queues;
DROP TRIGGER limits_changed ON tenant_queues;
DROP FUNCTION limits_changed;
DROP FUNCTION limits_of;
DROP TRIGGER announced_job_ended ON jobs;
DROP FUNCTION announced_job_ended;
DROP TRIGGER usage_is_final ON usage_days;
DROP TRIGGER slot_peak_is_final ON slot_peaks;
DROP FUNCTION usage_is_final;
DROP TRIGGER awaited_job_ended ON jobs;
DROP TRIGGER awaited_job_deleted ON jobs;
DROP FUNCTION awaited_job_ended;
"""
REPLACED = [
    'jobs_no_half_state',
    'jobs_priority_0_to_10',
    'jobs_slot_from_1',
    'jobs_slot_has_ticket',
    'jobs_running_has_worker',
    'jobs_holder_has_attempt',
    'jobs_dead_has_moment',
]
# Without the check that each of a positive field is.
FIELDS = {
    'attempt': models.IntegerField(default=0),
    'crashes': models.SmallIntegerField(default=0),
    'max_retries': models.IntegerField(null=True),
    'memory': models.IntegerField(null=True),
    'priority': models.SmallIntegerField(default=5),
    'result_bytes': models.IntegerField(null=True),
    'retries': models.IntegerField(default=0),
    'slot': models.IntegerField(null=True),
    'status': models.CharField(choices=[(status, status) for status in STATUSES], max_length=10),
    'worker_pid': models.IntegerField(null=True),
}
WHOLE = models.CheckConstraint(
    condition=models.Func(
        *('status', 'blocked_at', 'due_at', 'ready_at', 'slot', 'end_time', 'died_at', 'worker', 'start_time', 'ticket'),
        *('attempt', 'priority', 'crashes', 'retries', 'max_retries', 'memory', 'worker_pid', 'result_bytes'),
        function='job_is_whole',
        output_field=models.BooleanField(),
    ),
    name='jobs_whole',
)


def sql(name):
    """The statements of that file, with the names of this project's tables."""
    return with_our_names((Path(__file__).parent / 'since_0_1_0' / f'{name}.sql').read_text())


def view(columns):
    return with_our_names(f"""
DROP VIEW all_jobs;
CREATE VIEW all_jobs AS
SELECT {columns} FROM jobs
UNION ALL
SELECT {columns} FROM job_history;
""")


def tenant(**options):
    return tenants.tenant_key.TenantKey(
        db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=TENANT_MODEL, **options
    )


def of_batch(related_name, on_delete):
    return models.OneToOneField(
        db_constraint=False, on_delete=on_delete, primary_key=True, related_name=related_name, serialize=False,
        to=named('jobs.batch'),
    )


def key(*columns):
    return models.CompositePrimaryKey(*columns, blank=True, editable=False, primary_key=True, serialize=False)


def number():
    return models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')


def now():
    return models.DateTimeField(db_default=django.db.models.functions.datetime.Now())


class Migration(migrations.Migration):

    dependencies = [
        migrations.swappable_dependency(TENANT_MODEL),
        (named('jobs'), '0001_initial'),
        (named('tenants'), '0002_burst_slots'),
    ]
    # As it was written, step by step, before the release.
    replaces = [
        (named('jobs'), name)
        for name in (
            '0002_error_key', '0003_expires', '0004_jobs_that_wait', '0005_replaced', '0006_usage', '0007_batches',
            '0008_forecasts', '0009_webhooks', '0010_changes', '0011_batches_of_webhooks', '0012_what_ifs',
            '0013_one_check', '0015_batch_cancels', '0016_forecast_seconds',
        )
    ]

    operations = [
        WAIT_BRIEFLY,
        migrations.AddField('job', 'error_key', models.BigIntegerField(null=True)),
        migrations.AddField('job', 'expires_at', models.DateTimeField(null=True)),
        migrations.AddField('job', 'reason', models.CharField(max_length=200, null=True)),
        migrations.AddField('job', 'awaited', models.BooleanField(db_default=False, default=False)),
        migrations.AddField('job', 'blocked_at', models.DateTimeField(null=True)),
        migrations.AddField('job', 'predecessors', ArrayField(base_field=models.BigIntegerField(), null=True, size=None)),
        migrations.AddField('job', 'behind', models.BigIntegerField(null=True)),
        migrations.AddField('job', 'replaced_by', models.BigIntegerField(null=True)),
        migrations.AddField('job', 'batch_id', models.BigIntegerField(null=True)),
        migrations.AddField('job', 'announced', models.BooleanField(db_default=False, default=False)),
        migrations.AddField('archivedjob', 'expires_at', models.DateTimeField(null=True)),
        migrations.AddField('archivedjob', 'reason', models.CharField(max_length=200, null=True)),
        migrations.AddField('archivedjob', 'batch_id', models.BigIntegerField(null=True)),
        migrations.AddField('attempt', 'worker_pid', models.IntegerField(null=True)),
        migrations.AddField('recorded', 'seconds', models.FloatField(null=True)),
        migrations.RunSQL(view(COLUMNS + ', expires_at, reason, batch_id'), view(COLUMNS)),
        migrations.RunSQL(sql('job_is_whole'), 'DROP FUNCTION job_is_whole'),
        AddConstraintNotValid('job', WHOLE),  # the next migration looks at the rows that there are
        *[migrations.RemoveConstraint('job', name) for name in REPLACED],
        *[migrations.AlterField(model, name, field) for model in ('job', 'archivedjob') for name, field in FIELDS.items()],
        migrations.CreateModel(
            name='JobEdge',
            fields=[
                ('pk', key('predecessor_id', 'follower_id')),
                ('predecessor_id', models.BigIntegerField()),
                ('follower_id', models.BigIntegerField()),
                ('whatever', models.BooleanField(db_default=False, default=False)),
                ('patience', models.FloatField(null=True)),
                ('until', models.DateTimeField(null=True)),
            ],
            options={
                'db_table': named('job_edges'),
                'default_permissions': (),
                'indexes': [
                    models.Index(fields=['follower_id'], name='job_edges_of_follower'),
                    models.Index(condition=models.Q(('until__isnull', False)), fields=['until'], name='job_edges_until'),
                ],
            },
        ),
        migrations.CreateModel(
            name='JobEnd',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('xid', models.BigIntegerField()),
                ('job_id', models.BigIntegerField(null=True)),
                ('batch_id', models.BigIntegerField(null=True)),
                ('success', models.SmallIntegerField(db_default=0, default=0)),
                ('error', models.SmallIntegerField(db_default=0, default=0)),
                ('dead', models.SmallIntegerField(db_default=0, default=0)),
                ('cancelled', models.SmallIntegerField(db_default=0, default=0)),
            ],
            options={
                'db_table': named('job_ends'),
                'default_permissions': (),
                'indexes': [models.Index(fields=['xid'], name='job_ends_new')],
            },
        ),
        migrations.CreateModel(
            name='ClosedDay',
            fields=[
                ('day', models.DateField(primary_key=True, serialize=False)),
                ('closed_at', models.DateTimeField()),
            ],
            options={'db_table': named('closed_days')},
        ),
        migrations.CreateModel(
            name='SlotPeak',
            fields=[
                ('pk', key('tenant_id', 'day')),
                ('tenant_id', models.BigIntegerField()),
                ('day', models.DateField()),
                ('slots', models.PositiveIntegerField()),
            ],
            options={
                'db_table': named('slot_peaks'),
                'indexes': [BrinIndex(fields=['day'], name='slot_peaks_by_day', pages_per_range=32)],
            },
        ),
        migrations.CreateModel(
            name='UsageDay',
            fields=[
                ('pk', key('tenant_id', 'day', 'queue_id', 'source_type', 'source_method', 'outcome', 'ended_on')),
                ('tenant_id', models.BigIntegerField()),
                ('day', models.DateField()),
                ('queue_id', models.BigIntegerField()),
                ('source_type', models.CharField(max_length=200)),
                ('source_method', models.CharField(max_length=100)),
                ('outcome', models.CharField(max_length=9)),
                ('ended_on', models.DateField()),
                ('attempts', models.BigIntegerField()),
                ('microseconds', models.BigIntegerField()),
            ],
            options={
                'db_table': named('usage_days'),
                'indexes': [BrinIndex(fields=['day'], name='usage_days_by_day', pages_per_range=32)],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('ended_on__lte', models.F('day'))), name='usage_days_not_ahead'),
                    models.CheckConstraint(condition=models.Q(('attempts__gt', 0), ('microseconds__gte', 0)), name='usage_days_of_something'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Batch',
            fields=[
                ('id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200)),
                ('user_key', models.CharField(blank=True, default='', max_length=100)),
                ('created_at', now()),
                ('closed_at', models.DateTimeField(null=True)),
                ('added', models.IntegerField(db_default=0, default=0)),
                ('tenant', tenant(db_index=False)),
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
                ('batch', of_batch('tally', models.DO_NOTHING)),
                ('success', models.IntegerField(db_default=0, default=0)),
                ('error', models.IntegerField(db_default=0, default=0)),
                ('dead', models.IntegerField(db_default=0, default=0)),
                ('cancelled', models.IntegerField(db_default=0, default=0)),
            ],
            options={'db_table': named('batch_tallies'), 'default_permissions': ()},
        ),
        migrations.CreateModel(
            name='BatchCancel',
            fields=[
                ('batch', of_batch('+', models.CASCADE)),
                ('tenant_id', models.BigIntegerField(null=True)),
                ('bulk', models.UUIDField()),
                ('after', models.BigIntegerField(db_default=0, default=0)),
            ],
            options={'db_table': named('batch_cancels'), 'default_permissions': ()},
        ),
        migrations.CreateModel(
            name='Calibration',
            fields=[
                ('pk', key('kind', 'quantile')),
                ('kind', models.CharField(max_length=30)),
                ('quantile', models.FloatField()),
                ('log', models.FloatField()),
                ('outcomes', models.IntegerField()),
                ('held', models.FloatField()),
            ],
            options={'db_table': named('calibrations')},
        ),
        migrations.CreateModel(
            name='Forecast',
            fields=[
                ('pk', key('tenant_id', 'queue_id', 'user_key')),
                ('tenant_id', models.BigIntegerField()),
                ('queue_id', models.BigIntegerField()),
                ('user_key', models.CharField(max_length=101)),
                ('made_at', models.DateTimeField()),
                ('reason', models.CharField(max_length=20)),
                ('places', models.JSONField()),
            ],
            options={'db_table': named('forecasts')},
        ),
        migrations.CreateModel(
            name='Prediction',
            fields=[
                ('id', number()),
                ('job_id', models.BigIntegerField()),
                ('made_at', models.DateTimeField()),
                ('kind', models.CharField(max_length=30)),
                ('reason', models.CharField(max_length=20)),
                ('raw_50', models.FloatField()),
                ('raw_90', models.FloatField()),
                ('said_50', models.FloatField()),
                ('said_90', models.FloatField()),
                ('ahead_50', models.FloatField(null=True)),
                ('ahead_90', models.FloatField(null=True)),
                ('past_50', models.FloatField(null=True)),
                ('past_90', models.FloatField(null=True)),
                ('started', models.FloatField(null=True)),
                ('held_50', models.BooleanField(null=True)),
                ('held_90', models.BooleanField(null=True)),
                ('void', models.BooleanField(db_default=False, default=False)),
            ],
            options={
                'db_table': named('predictions'),
                'indexes': [
                    models.Index(fields=['made_at'], name='predictions_by_time'),
                    models.Index(condition=models.Q(('started__isnull', True), ('void', False)), fields=['job_id'], name='predictions_open'),
                ],
            },
        ),
        migrations.CreateModel(
            name='WebhookEvent',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('tenant_id', models.BigIntegerField(db_index=True)),
                ('job_id', models.BigIntegerField()),
                ('attempt', models.IntegerField()),
                ('status', models.CharField(max_length=9)),
                ('ended_at', models.DateTimeField()),
            ],
            options={'db_table': named('webhook_events'), 'default_permissions': ()},
        ),
        migrations.CreateModel(
            name='WebhookEndpoint',
            fields=[
                ('id', number()),
                ('url', models.CharField(max_length=500)),
                ('types', ArrayField(base_field=models.CharField(max_length=301), blank=True, default=list, size=None)),
                ('salt', models.CharField(max_length=64)),
                ('created_at', now()),
                ('failing_since', models.DateTimeField(null=True)),
                ('last_error', models.CharField(default='', max_length=300)),
                ('off_at', models.DateTimeField(null=True)),
                ('tenant', tenant()),
                ('batches', ArrayField(base_field=models.CharField(max_length=200), blank=True, db_default=[], default=list, size=None)),
            ],
            options={'db_table': named('webhook_endpoints')},
        ),
        migrations.CreateModel(
            name='LeftLine',
            fields=[
                ('id', number()),
                ('at', models.DateTimeField()),
                ('ready_at', models.DateTimeField()),
                ('job_id', models.BigIntegerField()),
                ('tenant_id', models.BigIntegerField()),
                ('queue_id', models.BigIntegerField()),
                ('priority', models.SmallIntegerField()),
                ('user_key', models.CharField(max_length=100)),
                ('source_type', models.CharField(max_length=200)),
                ('source_method', models.CharField(max_length=100)),
                ('why', models.CharField(max_length=200)),
            ],
            options={
                'db_table': named('left_line'),
                'default_permissions': (),
                'indexes': [models.Index(fields=['at'], name='left_line_by_time')],
            },
        ),
        migrations.CreateModel(
            name='LimitChange',
            fields=[
                ('id', number()),
                ('at', models.DateTimeField()),
                ('kind', models.CharField(choices=[('tenant', 'Tenant'), ('queue', 'Queue'), ('job_type', 'Job Type')], max_length=8)),
                ('subject', models.BigIntegerField()),
                ('limits', models.JSONField(null=True)),
            ],
            options={
                'db_table': named('limit_changes'),
                'default_permissions': (),
                'indexes': [models.Index(fields=['kind', 'subject', 'id'], name='limit_changes_of_subject')],
            },
        ),
        migrations.CreateModel(
            name='PoolChange',
            fields=[
                ('pk', key('pool', 'at')),
                ('pool', models.CharField(max_length=50)),
                ('at', models.DateTimeField()),
                ('processes', models.PositiveIntegerField()),
                ('leaving', models.PositiveIntegerField()),
            ],
            options={'db_table': named('pool_changes'), 'default_permissions': ()},
        ),
        migrations.CreateModel(
            name='WhatIf',
            fields=[
                ('id', number()),
                ('asked_at', now()),
                ('asked_by', models.CharField(max_length=200)),
                ('question', models.JSONField()),
                ('answer', models.JSONField(null=True)),
                ('refused', models.CharField(db_default='', default='', max_length=500)),
                ('ended_at', models.DateTimeField(null=True)),
            ],
            options={'db_table': named('what_ifs'), 'default_permissions': ()},
        ),
        migrations.RunSQL(sql('triggers'), with_our_names(DROP_TRIGGERS)),
    ]

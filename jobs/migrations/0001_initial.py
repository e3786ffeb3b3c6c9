"""All tables, functions and triggers. What Django cannot make is in `initial/`: a file for each trade."""

from pathlib import Path

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import migrations, models
from django.db.models.functions import Cast, Now
from django.db.models.lookups import LessThanOrEqual

from jobs.models.dispatch import Numbers
from plumbing.names import named, with_our_names
from tenants.conf import TENANT_MODEL
from tenants.tenant_key import TenantKey

STATUSES = ('blocked', 'scheduled', 'created', 'queued', 'running', 'success', 'error', 'dead', 'cancelled')


def run(name, undo):
    """Run the statements of that file, with the names of this project's tables."""
    statements = (Path(__file__).parent / 'initial' / f'{name}.sql').read_text()
    return migrations.RunSQL(with_our_names(statements), with_our_names(undo))


def number():
    return models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')


def key(*columns):
    return models.CompositePrimaryKey(*columns, blank=True, editable=False, primary_key=True, serialize=False)


def now():
    return models.DateTimeField(db_default=Now())


def tenant(on_delete=models.CASCADE, **options):
    return TenantKey(db_constraint=False, on_delete=on_delete, related_name='+', to=TENANT_MODEL, **options)


def job_fields():
    return [
        ('priority', models.SmallIntegerField(default=5)),
        ('user_key', models.CharField(blank=True, default='', max_length=100)),
        ('source_type', models.CharField(max_length=200)),
        ('source_id', models.CharField(max_length=100, null=True)),
        ('source_method', models.CharField(max_length=100)),
        ('args', models.JSONField(default=dict)),
        ('batch_id', models.BigIntegerField(null=True)),
        ('dedup_key', models.UUIDField(null=True)),
        ('status', models.CharField(choices=[(status, status) for status in STATUSES], max_length=10)),
        ('slot', models.IntegerField(null=True)),
        ('ticket', models.BigIntegerField(null=True)),
        ('attempt', models.IntegerField(default=0)),
        ('crashes', models.SmallIntegerField(default=0)),
        ('barred', models.BooleanField(db_default=False, default=False)),
        ('retries', models.IntegerField(default=0)),
        ('max_retries', models.IntegerField(null=True)),
        ('timeout', models.FloatField(null=True)),
        ('memory', models.IntegerField(null=True)),
        ('worker', models.UUIDField(null=True)),
        ('worker_pid', models.IntegerField(null=True)),
        ('created_at', now()),
        ('due_at', models.DateTimeField(null=True)),
        ('ready_at', models.DateTimeField(null=True)),
        ('expires_at', models.DateTimeField(null=True)),
        ('waited_since', models.DateTimeField(null=True)),
        ('queued_at', models.DateTimeField(null=True)),
        ('handed_at', models.DateTimeField(null=True)),
        ('start_time', models.DateTimeField(null=True)),
        ('cancel_requested_at', models.DateTimeField(null=True)),
        ('died_at', models.DateTimeField(null=True)),
        ('progress', models.FloatField(null=True)),
        ('progress_note', models.CharField(blank=True, default='', max_length=200)),
        ('stats', models.JSONField(default=dict)),
        ('last_error', models.TextField(blank=True, default='')),
        ('reason', models.CharField(max_length=200, null=True)),
        ('result_expires_at', models.DateTimeField(null=True)),
        ('peak_memory', models.IntegerField(null=True)),
        ('trace_parent', models.CharField(max_length=55, null=True)),
        ('result_bytes', models.IntegerField(null=True)),
    ]


def failed_fields():
    return [
        ('attempt', models.PositiveIntegerField()),
        ('error_class', models.CharField(max_length=200)),
        ('error', models.TextField()),
        ('traceback', models.TextField(blank=True, default='')),
        ('worker', models.UUIDField(null=True)),
        ('queued_at', models.DateTimeField(null=True)),
        ('start_time', models.DateTimeField(null=True)),
        ('end_time', models.DateTimeField()),
    ]


def counted_fields():
    return [
        ('queue_id', models.BigIntegerField()),
        ('source_type', models.CharField(max_length=200)),
        ('source_method', models.CharField(max_length=100)),
        ('outcome', models.CharField(max_length=9)),
        ('run_seconds', models.FloatField()),
        ('wait_seconds', models.FloatField()),
    ]


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(TENANT_MODEL),
        (named('tenants'), '0001_initial'),
    ]

    operations = [
        # Functions that tables and statements use.
        run('rates', 'DROP FUNCTION rate_after, rate_next_at, rate_tokens, rate_full_at(int, float8, timestamptz, int, float8, timestamptz), rate_full_at(float8, timestamptz, timestamptz)'),
        run('slots', 'DROP FUNCTION worked_since, in_ms, worked'),
        run('line', 'DROP FUNCTION front_by_user, tally, circle_place, job_place; DROP TYPE lane_front; DROP SEQUENCE door_seq'),
        run('histograms', 'DROP AGGREGATE sum_buckets(bigint[], int); DROP FUNCTION add_buckets, histogram'),
        run('job_is_whole', 'DROP FUNCTION job_is_whole'),

        # Queues.
        migrations.CreateModel(
            name='Queue',
            fields=[
                ('id', number()),
                ('name', models.SlugField(help_text='Its name in @job(queue=...) and over HTTP.', unique=True)),
                ('weight', models.PositiveIntegerField(default=1, help_text='While two queues of a pool have jobs waiting, weights 3 and 1 are served 3 : 1.', validators=[MinValueValidator(1)])),
                ('pool', models.SlugField(default='default', help_text='The workers that serve it: celery worker -Q POOL.')),
                ('concurrency', models.PositiveIntegerField(blank=True, help_text='The most jobs of all tenants that hold a slot at once. Empty: no limit.', null=True)),
                ('default_timeout', models.FloatField(blank=True, help_text='Seconds that a job may run, unless it has its own timeout. Empty: JOBS_DEFAULT_TIMEOUT.', null=True, validators=[MinValueValidator(0.1), MaxValueValidator(31622400.0)])),
                ('default_max_retries', models.PositiveSmallIntegerField(blank=True, help_text='Retries of jobs whose method has no retry policy. Empty: none.', null=True)),
                ('default_backoff', models.FloatField(default=10.0, help_text='Seconds before the first of those retries.', validators=[MinValueValidator(0.0), MaxValueValidator(31622400.0)])),
                ('backoff_grows', models.BooleanField(db_default=True, default=True, help_text='Each further delay is twice as long. Off: always the same delay.')),
                ('rate_limit', models.PositiveIntegerField(blank=True, help_text='The most jobs of all tenants that start in a window.', null=True, validators=[MinValueValidator(1)])),
                ('rate_window', models.FloatField(blank=True, help_text="Seconds of the rate limit's window.", null=True, validators=[MinValueValidator(0.001), MaxValueValidator(31622400.0)])),
                ('paused', models.BooleanField(default=False, help_text='Waiting jobs stay waiting; running jobs continue.')),
            ],
            options={
                'db_table': named('queues'),
                'ordering': ['name'],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('default_backoff__gte', 0), ('default_backoff__lte', 31622400.0)), name='queues_backoff_bounded'),
                    models.CheckConstraint(condition=models.Q(models.Q(('rate_limit__isnull', True), ('rate_window__isnull', True)), models.Q(('rate_limit__gte', 1), ('rate_limit__isnull', False), ('rate_window__gte', 0.001), ('rate_window__isnull', False), ('rate_window__lte', 31622400.0)), _connector='OR'), name='queues_rate_limit_has_window'),
                    models.CheckConstraint(condition=models.Q(('weight__gte', 1)), name='queues_weight_positive'),
                    models.CheckConstraint(condition=models.Q(('default_timeout__isnull', True), models.Q(('default_timeout__gt', 0), ('default_timeout__lte', 31622400.0)), _connector='OR'), name='queues_timeout_positive'),
                ],
            },
        ),
        migrations.CreateModel(
            name='PausedJobType',
            fields=[
                ('id', number()),
                ('source_type', models.CharField(max_length=200)),
                ('source_method', models.CharField(max_length=100)),
                ('paused_at', now()),
            ],
            options={
                'db_table': named('paused_job_types'),
                'constraints': [
                    models.UniqueConstraint(fields=('source_type', 'source_method'), name='paused_job_types_once'),
                ],
            },
        ),

        # Jobs, and what they wait for and leave.
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', number()),
                *job_fields(),
                ('end_time', models.DateTimeField(null=True)),
                ('tenant', tenant(db_index=False)),
                ('queue', models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name='+', to=named('jobs.queue'))),
                ('blocked_at', models.DateTimeField(null=True)),
                ('predecessors', ArrayField(base_field=models.BigIntegerField(), null=True, size=None)),
                ('announced', models.BooleanField(db_default=False, default=False)),
                ('awaited', models.BooleanField(db_default=False, default=False)),
                ('behind', models.BigIntegerField(null=True)),
                ('replaced_by', models.BigIntegerField(null=True)),
                ('followed', models.IntegerField(db_default=0, default=0)),
                ('error_key', models.BigIntegerField(null=True)),
            ],
            options={
                'db_table': named('jobs'),
                'indexes': [
                    models.Index(condition=models.Q(('ready_at__isnull', False)), fields=['queue', 'tenant', 'priority', 'id'], name='jobs_claim'),
                    models.Index(condition=models.Q(('ready_at__isnull', False)), fields=['queue', 'tenant', 'user_key', 'priority', 'id'], name='jobs_claim_by_user'),
                    models.Index(condition=models.Q(('due_at__isnull', False)), fields=['due_at'], name='jobs_due'),
                    models.Index(condition=models.Q(('due_at__isnull', False)), fields=['tenant'], name='jobs_scheduled_of_tenant'),
                    models.Index(condition=models.Q(('expires_at__isnull', False), models.Q(('due_at__isnull', False), ('ready_at__isnull', False), ('blocked_at__isnull', False), _connector='OR')), fields=['expires_at'], name='jobs_expiring'),
                    models.Index(condition=models.Q(('blocked_at__isnull', False)), fields=['tenant', 'id'], name='jobs_blocked_of_tenant'),
                    models.Index(condition=models.Q(('batch_id__isnull', False)), fields=['batch_id', '-id'], name='jobs_of_batch'),
                    models.Index(condition=models.Q(('batch_id__isnull', False), ('end_time__isnull', True)), fields=['batch_id', 'id'], name='jobs_open_of_batch'),
                    models.Index(condition=models.Q(('died_at__isnull', False)), fields=['died_at'], name='jobs_dead'),
                    models.Index(condition=models.Q(('died_at__isnull', False)), fields=['error_key', 'source_type', 'source_method', 'died_at', 'tenant'], name='jobs_dead_groups'),
                    models.Index(fields=['tenant', '-id'], name='jobs_of_tenant'),
                    models.Index(condition=models.Q(('died_at__isnull', True), ('end_time__isnull', False)), fields=['end_time'], name='jobs_ended'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Func('status', 'blocked_at', 'due_at', 'ready_at', 'slot', 'end_time', 'died_at', 'worker', 'start_time', 'ticket', 'attempt', 'priority', 'crashes', 'retries', 'max_retries', 'memory', 'worker_pid', 'result_bytes', function='job_is_whole', output_field=models.BooleanField()), name='jobs_whole'),
                    models.UniqueConstraint(condition=models.Q(('slot__isnull', False)), fields=('tenant', 'slot'), name='jobs_one_job_per_slot'),
                    models.UniqueConstraint(condition=models.Q(('dedup_key__isnull', False), ('end_time__isnull', True)), fields=('tenant', 'dedup_key'), name='jobs_one_identical'),
                ],
            },
        ),
        migrations.CreateModel(
            name='DeadLetter',
            fields=[],
            options={
                'proxy': True,
                'default_permissions': ['view', 'change'],
            },
            bases=(named('jobs.job'),),
        ),
        migrations.CreateModel(
            name='FailedAttempt',
            fields=[
                ('id', number()),
                *failed_fields(),
                ('job', models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.DO_NOTHING, related_name='failed_attempts', to=named('jobs.job'))),
            ],
            options={
                'db_table': named('failed_attempts'),
                'indexes': [
                    models.Index(condition=models.Q(('error_class__in', ('WorkerGone', 'ProcessDied'))), fields=['end_time'], name='failed_attempts_crashes'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('job', 'attempt'), name='failed_attempts_once'),
                ],
            },
        ),
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
                'indexes': [
                    models.Index(fields=['xid'], name='job_ends_new'),
                ],
            },
        ),
        migrations.CreateModel(
            name='JobLog',
            fields=[
                ('id', number()),
                ('tenant', tenant(db_index=False)),
                ('job_id', models.BigIntegerField()),
                ('attempt', models.PositiveIntegerField()),
                ('text', models.TextField()),
                ('at', now()),
            ],
            options={
                'db_table': named('job_logs'),
                'default_permissions': (),
                'indexes': [
                    models.Index(fields=['tenant'], name='job_logs_of_tenant'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('job_id', 'attempt'), name='job_logs_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='JobMemory',
            fields=[
                ('id', number()),
                ('tenant', tenant(db_index=False)),
                ('source_type', models.CharField(max_length=200)),
                ('source_method', models.CharField(max_length=100)),
                ('source_id', models.CharField(blank=True, default='', max_length=100)),
                ('content', models.JSONField(default=dict)),
                ('touched_at', now()),
            ],
            options={
                'verbose_name_plural': 'job memories',
                'db_table': named('job_memories'),
                'indexes': [
                    models.Index(fields=['tenant', 'id'], name='job_memories_of_tenant'),
                    models.Index(fields=['touched_at'], name='job_memories_old'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('tenant', 'source_type', 'source_method', 'source_id'), name='job_memories_once'),
                    models.CheckConstraint(condition=LessThanOrEqual(models.Func(Cast('content', models.TextField()), function='octet_length', output_field=models.IntegerField()), 8192), name='job_memories_small'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Batch',
            fields=[
                ('id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('tenant', tenant(db_index=False)),
                ('name', models.CharField(max_length=200)),
                ('user_key', models.CharField(blank=True, default='', max_length=100)),
                ('created_at', now()),
                ('closed_at', models.DateTimeField(null=True)),
                ('added', models.IntegerField(db_default=0, default=0)),
            ],
            options={
                'verbose_name_plural': 'batches',
                'db_table': named('batches'),
                'indexes': [
                    models.Index(fields=['tenant', '-id'], name='batches_of_tenant'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('added__gte', 0)), name='batches_added_from_0'),
                ],
            },
        ),
        migrations.CreateModel(
            name='BatchTally',
            fields=[
                ('batch', models.OneToOneField(db_constraint=False, on_delete=models.DO_NOTHING, primary_key=True, related_name='tally', serialize=False, to=named('jobs.batch'))),
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
        migrations.CreateModel(
            name='BatchCancel',
            fields=[
                ('batch', models.OneToOneField(db_constraint=False, on_delete=models.CASCADE, primary_key=True, related_name='+', serialize=False, to=named('jobs.batch'))),
                ('tenant_id', models.BigIntegerField(null=True)),
                ('bulk', models.UUIDField()),
                ('after', models.BigIntegerField(db_default=0, default=0)),
            ],
            options={
                'db_table': named('batch_cancels'),
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Schedule',
            fields=[
                ('id', number()),
                ('tenant', tenant(db_index=False)),
                ('name', models.CharField(max_length=300)),
                ('declared', models.BooleanField(default=False)),
                ('undeclared_at', models.DateTimeField(blank=True, null=True)),
                ('by_tenant', models.BooleanField(default=False)),
                ('source_type', models.CharField(max_length=200)),
                ('source_id', models.CharField(blank=True, max_length=100, null=True)),
                ('source_method', models.CharField(max_length=100)),
                ('args', models.JSONField(blank=True, default=dict)),
                ('queue', models.CharField(blank=True, max_length=50, null=True)),
                ('priority', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('every', models.FloatField(blank=True, null=True)),
                ('cron', models.CharField(blank=True, default='', max_length=200)),
                ('tz', models.CharField(default='UTC', max_length=100)),
                ('jitter', models.FloatField(default=0.0)),
                ('starts_at', now()),
                ('ends_at', models.DateTimeField(blank=True, null=True)),
                ('catch_up', models.CharField(choices=[('none', 'none'), ('one', 'one'), ('all', 'all')], default='one', max_length=4)),
                ('overlap', models.CharField(choices=[('skip', 'skip'), ('queue', 'queue'), ('cancel', 'cancel')], default='queue', max_length=6)),
                ('paused', models.BooleanField(default=False)),
                ('paused_because', models.CharField(blank=True, default='', max_length=300)),
                ('next_due', models.DateTimeField(blank=True, null=True)),
                ('next_at', models.DateTimeField(blank=True, null=True)),
                ('last_job_id', models.BigIntegerField(blank=True, null=True)),
                ('created_at', now()),
            ],
            options={
                'db_table': named('schedules'),
                'indexes': [
                    models.Index(condition=models.Q(('next_at__isnull', False)), fields=['next_at'], name='schedules_next'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('tenant', 'name'), name='schedules_once'),
                    models.CheckConstraint(condition=models.Q(('every__isnull', True), ('cron', ''), _connector='XOR'), name='schedules_either_every_or_cron'),
                    models.CheckConstraint(condition=models.Q(models.Q(('next_at__isnull', True), ('next_due__isnull', True)), models.Q(('next_at__isnull', False), ('next_due__isnull', False), ('paused', False)), _connector='OR'), name='schedules_paused_is_not_due'),
                    models.CheckConstraint(condition=models.Q(('jitter__gte', 0)), name='schedules_jitter_positive'),
                ],
            },
        ),
        migrations.CreateModel(
            name='ScheduleRun',
            fields=[
                ('id', number()),
                ('schedule', models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.DO_NOTHING, related_name='runs', to=named('jobs.schedule'))),
                ('due', models.DateTimeField()),
                ('job_id', models.BigIntegerField(null=True)),
                ('note', models.CharField(blank=True, default='', max_length=300)),
                ('at', now()),
            ],
            options={
                'db_table': named('schedule_runs'),
                'indexes': [
                    models.Index(fields=['at'], name='schedule_runs_old'),
                    models.Index(condition=models.Q(('job_id__isnull', False)), fields=['job_id'], name='schedule_runs_of_job'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('schedule', 'due'), name='schedule_runs_once'),
                ],
            },
        ),

        # The books of the dispatch, and its inbox.
        migrations.CreateModel(
            name='Lane',
            fields=[
                ('pk', key('tenant_id', 'queue_id', 'version')),
                ('tenant_id', models.BigIntegerField()),
                ('queue_id', models.BigIntegerField()),
                ('version', models.BigIntegerField()),
                ('position', models.BigIntegerField()),
                ('state', models.CharField(choices=[('ready', 'Ready'), ('empty', 'Empty'), ('closed', 'Closed')], max_length=6)),
                ('virtual_time', models.FloatField()),
                ('head', models.BigIntegerField()),
                ('waiting', models.IntegerField()),
                ('last_user', models.CharField(default='', max_length=100)),
                ('opens_at', models.DateTimeField(null=True)),
                ('in_use', models.IntegerField(db_default=0, default=0)),
                ('tickets', models.BigIntegerField(db_default=0, default=0)),
            ],
            options={
                'db_table': named('lanes'),
                'indexes': [
                    models.Index(condition=models.Q(('state', 'ready')), fields=['queue_id', 'position'], name='lanes_circle'),
                    models.Index(condition=models.Q(('opens_at__isnull', False)), fields=['opens_at'], name='lanes_opening'),
                    models.Index(condition=models.Q(('state', 'closed')), fields=['tenant_id', 'version'], name='lanes_closed'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('in_use__gte', 0)), name='lanes_in_use_from_0'),
                ],
            },
        ),
        migrations.CreateModel(
            name='QueueTurn',
            fields=[
                ('pk', key('queue_id', 'version')),
                ('queue_id', models.BigIntegerField()),
                ('version', models.BigIntegerField()),
                ('virtual_time', models.FloatField(db_default=0, default=0)),
                ('pool_time', models.FloatField(db_default=0, default=0)),
                ('lane_time', models.FloatField(db_default=0, default=0)),
                ('head', models.BigIntegerField(db_default=0, default=0)),
                ('circle_end', models.BigIntegerField(db_default=0, default=0)),
                ('round_least', models.FloatField(null=True)),
                ('growth', models.FloatField(db_default=0, default=0)),
                ('round_growth', models.FloatField(null=True)),
                ('timed_at', models.DateTimeField(null=True)),
                ('full_at', models.DateTimeField(null=True)),
                ('full_limit', models.IntegerField(null=True)),
                ('full_window', models.FloatField(null=True)),
                ('in_use', models.IntegerField(db_default=0, default=0)),
                ('tickets', models.BigIntegerField(db_default=0, default=0)),
                ('mean_seconds', models.FloatField(db_default=0, default=0)),
                ('state', models.CharField(choices=[('ready', 'Ready'), ('empty', 'Empty'), ('keeps', 'Keeps'), ('asleep', 'Asleep')], db_default='ready', default='ready', max_length=6)),
            ],
            options={
                'db_table': named('queue_turns'),
                'indexes': [
                    models.Index(condition=models.Q(('state', 'asleep'), _negated=True), fields=['version'], name='queue_turns_awake'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('in_use__gte', 0)), name='queue_turns_in_use_from_0'),
                ],
            },
        ),
        migrations.CreateModel(
            name='TenantBook',
            fields=[
                ('pk', key('tenant_id', 'version')),
                ('tenant_id', models.BigIntegerField()),
                ('version', models.BigIntegerField()),
                ('in_use', models.IntegerField()),
                ('slots', Numbers()),
                ('users', models.JSONField(null=True)),
                ('full_at', models.DateTimeField(null=True)),
                ('full_limit', models.IntegerField(null=True)),
                ('full_window', models.FloatField(null=True)),
                ('opened', models.BigIntegerField(db_default=0, default=0)),
            ],
            options={
                'db_table': named('tenant_books'),
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('in_use__gte', 0)), name='tenant_books_in_use_from_0'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Door',
            fields=[
                ('version', models.BigIntegerField(primary_key=True, serialize=False)),
                ('since', models.BigIntegerField()),
                ('unseen', ArrayField(base_field=models.BigIntegerField(), size=None)),
                ('floor', models.BigIntegerField(db_default=0, default=0)),
            ],
            options={'db_table': named('door')},
        ),
        migrations.CreateModel(
            name='Arrival',
            fields=[
                ('pk', key('xid', 'queue_id', 'tenant_id')),
                ('xid', models.BigIntegerField()),
                ('queue_id', models.BigIntegerField()),
                ('tenant_id', models.BigIntegerField()),
                ('head', models.BigIntegerField(null=True)),
                ('jobs', models.IntegerField()),
            ],
            options={'db_table': named('arrivals')},
        ),
        migrations.CreateModel(
            name='FreedSlot',
            fields=[
                ('pk', key('xid', 'tenant_id', 'job_id')),
                ('xid', models.BigIntegerField()),
                ('tenant_id', models.BigIntegerField()),
                ('job_id', models.BigIntegerField()),
                ('queue_id', models.BigIntegerField(null=True)),
                ('user_key', models.CharField(max_length=100, null=True)),
                ('slot', models.PositiveIntegerField(null=True)),
                ('ticket', models.BigIntegerField(null=True)),
                ('seconds', models.FloatField(null=True)),
                ('timeout', models.FloatField(null=True)),
                ('followed', models.IntegerField(db_default=0, default=0)),
                ('lost_process', models.BooleanField(db_default=False, default=False)),
            ],
            options={'db_table': named('freed_slots')},
        ),

        # Workers, and the operation.
        migrations.CreateModel(
            name='Pool',
            fields=[
                ('name', models.SlugField(primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('ordinary', 'Ordinary')], db_default='ordinary', max_length=20)),
                ('seats', models.PositiveSmallIntegerField(db_default=1)),
            ],
            options={
                'db_table': named('pools'),
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('kind', 'ordinary'), ('seats', 1)), name='pools_are_ordinary'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Worker',
            fields=[
                ('id', models.UUIDField(primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200)),
                ('pid', models.PositiveIntegerField()),
                ('pool', models.SlugField()),
                ('concurrency', models.PositiveIntegerField()),
                ('seats', models.PositiveSmallIntegerField(db_default=1)),
                ('beat_interval', models.FloatField(db_default=5.0)),
                ('started_at', now()),
                ('beat_at', now()),
                ('gone_at', models.DateTimeField(null=True)),
                ('cut_off_at', models.DateTimeField(null=True)),
                ('drain_requested_at', models.DateTimeField(null=True)),
                ('lost', models.BooleanField(db_default=False)),
            ],
            options={
                'db_table': named('workers'),
                'indexes': [
                    models.Index(condition=models.Q(('gone_at__isnull', True)), fields=['pool'], name='workers_live'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Server',
            fields=[
                ('id', number()),
                ('identifier', models.BigIntegerField()),
                ('timeline', models.IntegerField()),
                ('noticed_at', models.DateTimeField()),
            ],
            options={
                'db_table': named('servers'),
                'constraints': [
                    models.UniqueConstraint(fields=('identifier', 'timeline'), name='servers_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Repair',
            fields=[
                ('kind', models.CharField(max_length=40, primary_key=True, serialize=False)),
                ('count', models.PositiveBigIntegerField()),
                ('last_at', models.DateTimeField()),
            ],
            options={'db_table': named('repairs')},
        ),
        migrations.CreateModel(
            name='DeathNotice',
            fields=[
                ('notifier', models.CharField(max_length=255, primary_key=True, serialize=False)),
                ('upto', now()),
            ],
            options={'db_table': named('death_notices')},
        ),
        migrations.CreateModel(
            name='KeptAnswer',
            fields=[
                ('id', number()),
                ('tenant', tenant(db_index=False)),
                ('key', models.CharField(max_length=255)),
                ('digest', models.CharField(max_length=64)),
                ('status', models.PositiveSmallIntegerField(null=True)),
                ('location', models.CharField(db_default='', default='', max_length=200)),
                ('body', models.TextField(db_default='', default='')),
                ('created_at', now()),
            ],
            options={
                'db_table': named('kept_answers'),
                'indexes': [
                    models.Index(fields=['created_at'], name='kept_answers_old'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('tenant', 'key'), name='kept_answers_once'),
                ],
            },
        ),

        # Webhooks.
        migrations.CreateModel(
            name='WebhookEndpoint',
            fields=[
                ('id', number()),
                ('tenant', tenant()),
                ('url', models.CharField(max_length=500)),
                ('types', ArrayField(base_field=models.CharField(max_length=301), blank=True, default=list, size=None)),
                ('batches', ArrayField(base_field=models.CharField(max_length=200), blank=True, db_default=[], default=list, size=None)),
                ('salt', models.CharField(max_length=64)),
                ('created_at', now()),
                ('failing_since', models.DateTimeField(null=True)),
                ('last_error', models.CharField(default='', max_length=300)),
                ('off_at', models.DateTimeField(null=True)),
                ('former_salt', models.CharField(db_default='', default='', max_length=64)),
                ('former_until', models.DateTimeField(null=True)),
                ('failures', models.IntegerField(db_default=0, default=0)),
                ('tried_at', models.DateTimeField(null=True)),
                ('next_at', models.DateTimeField(null=True)),
                ('turn', models.BigIntegerField(db_default=0, default=0)),
                ('taken_until', models.DateTimeField(null=True)),
            ],
            options={'db_table': named('webhook_endpoints')},
        ),
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
            options={
                'db_table': named('webhook_messages'),
                'default_permissions': (),
            },
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
            options={
                'db_table': named('webhook_hours'),
                'default_permissions': (),
            },
        ),

        # Statistics and usage.
        migrations.CreateModel(
            name='Total',
            fields=[
                *counted_fields(),
                ('pk', key('queue_id', 'source_type', 'source_method', 'outcome')),
                ('attempts', models.BigIntegerField()),
                ('run_buckets', ArrayField(base_field=models.BigIntegerField(), size=None)),
                ('wait_buckets', ArrayField(base_field=models.BigIntegerField(), size=None)),
            ],
            options={'db_table': named('totals')},
        ),
        migrations.CreateModel(
            name='Sample',
            fields=[
                ('at', models.DateTimeField(primary_key=True, serialize=False)),
                ('tenants', models.JSONField()),
                ('queues', models.JSONField()),
                ('pools', models.JSONField()),
                ('states', models.JSONField(db_default={}, default=dict)),
                ('fairness', models.FloatField(null=True)),
            ],
            options={'db_table': named('samples')},
        ),
        migrations.CreateModel(
            name='TenantShare',
            fields=[
                ('tenant_id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('got', models.FloatField()),
                ('entitled', models.FloatField()),
                ('got_hour', models.FloatField()),
                ('entitled_hour', models.FloatField()),
            ],
            options={'db_table': named('tenant_shares')},
        ),
        migrations.CreateModel(
            name='FullHour',
            fields=[
                ('pk', key('hour', 'tenant_id')),
                ('hour', models.DateTimeField()),
                ('tenant_id', models.BigIntegerField()),
                ('minutes', models.PositiveSmallIntegerField()),
            ],
            options={'db_table': named('full_hours')},
        ),
        migrations.CreateModel(
            name='Recorded',
            fields=[
                ('task', models.CharField(max_length=20, primary_key=True, serialize=False)),
                ('upto', models.DateTimeField()),
                ('at', models.DateTimeField()),
                ('seconds', models.FloatField(null=True)),
                ('late', models.JSONField(null=True)),
            ],
            options={'db_table': named('recorded')},
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
                'indexes': [
                    BrinIndex(fields=['day'], name='usage_days_by_day', pages_per_range=32),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('ended_on__lte', models.F('day'))), name='usage_days_not_ahead'),
                    models.CheckConstraint(condition=models.Q(('attempts__gt', 0), ('microseconds__gte', 0)), name='usage_days_of_something'),
                ],
            },
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
                'indexes': [
                    BrinIndex(fields=['day'], name='slot_peaks_by_day', pages_per_range=32),
                ],
            },
        ),

        # Forecasts and replays.
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
            name='PredictionTotal',
            fields=[
                ('reason', models.CharField(max_length=20, primary_key=True, serialize=False)),
                ('predictions', models.BigIntegerField()),
            ],
            options={'db_table': named('prediction_totals')},
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
                'indexes': [
                    models.Index(fields=['kind', 'subject', 'id'], name='limit_changes_of_subject'),
                ],
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
            options={
                'db_table': named('pool_changes'),
                'default_permissions': (),
            },
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
                'indexes': [
                    models.Index(fields=['at'], name='left_line_by_time'),
                ],
            },
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
            options={
                'db_table': named('what_ifs'),
                'default_permissions': (),
            },
        ),

        # Tables and views that Django cannot make.
        run('history', 'DROP VIEW all_failed_attempts; DROP VIEW all_jobs; DROP TABLE job_history'),
        run('statistics', 'DROP TABLE attempts; DROP TABLE job_minutes; DROP TABLE tenant_hours'),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name='ArchivedJob',
                    fields=[
                        *job_fields(),
                        ('pk', key('id', 'end_time')),
                        ('id', models.BigIntegerField()),
                        ('tenant', tenant(db_index=False)),
                        ('queue', models.ForeignKey(db_constraint=False, db_index=False, on_delete=models.PROTECT, related_name='+', to=named('jobs.queue'))),
                        ('end_time', models.DateTimeField()),
                        ('predecessors', ArrayField(base_field=models.BigIntegerField(), null=True, size=None)),
                        ('failed_attempts', models.JSONField()),
                    ],
                    options={
                        'db_table': named('job_history'),
                        'indexes': [
                            models.Index(fields=['tenant', '-id'], name='job_history_of_tenant'),
                            models.Index(condition=models.Q(('batch_id__isnull', False)), fields=['batch_id', '-id'], name='job_history_of_batch'),
                            models.Index(fields=['tenant', 'end_time'], name='job_history_by_end'),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name='AnyJob',
                    fields=[
                        ('tenant', tenant(on_delete=models.DO_NOTHING)),
                        ('queue', models.ForeignKey(db_constraint=False, on_delete=models.DO_NOTHING, related_name='+', to=named('jobs.queue'))),
                        *job_fields(),
                        ('end_time', models.DateTimeField(null=True)),
                        ('id', models.BigIntegerField(primary_key=True, serialize=False)),
                    ],
                    options={
                        'db_table': named('all_jobs'),
                        'managed': False,
                        'default_permissions': (),
                    },
                ),
                migrations.CreateModel(
                    name='AnyFailedAttempt',
                    fields=[
                        *failed_fields(),
                        ('pk', key('job_id', 'attempt')),
                        ('job_id', models.BigIntegerField()),
                    ],
                    options={
                        'db_table': named('all_failed_attempts'),
                        'managed': False,
                        'default_permissions': (),
                    },
                ),
                migrations.CreateModel(
                    name='Attempt',
                    fields=[
                        ('pk', key('ended_at', 'job_id', 'attempt')),
                        ('ended_at', models.DateTimeField()),
                        ('start_time', models.DateTimeField()),
                        ('queued_at', models.DateTimeField(null=True)),
                        ('waited_since', models.DateTimeField(null=True)),
                        ('job_id', models.BigIntegerField()),
                        ('tenant_id', models.BigIntegerField()),
                        ('queue_id', models.BigIntegerField()),
                        ('worker', models.UUIDField(null=True)),
                        ('worker_pid', models.IntegerField(null=True)),
                        ('attempt', models.IntegerField()),
                        ('result_bytes', models.IntegerField(null=True)),
                        ('peak_memory', models.IntegerField(null=True)),
                        ('priority', models.SmallIntegerField()),
                        ('outcome', models.CharField(max_length=9)),
                        ('source_type', models.CharField(max_length=200)),
                        ('source_method', models.CharField(max_length=100)),
                        ('user_key', models.CharField(max_length=100)),
                    ],
                    options={'db_table': named('attempts')},
                ),
                migrations.CreateModel(
                    name='JobMinute',
                    fields=[
                        *counted_fields(),
                        ('attempts', models.IntegerField()),
                        ('run_buckets', ArrayField(base_field=models.IntegerField(), size=None)),
                        ('wait_buckets', ArrayField(base_field=models.IntegerField(), size=None)),
                        ('pk', key('minute', 'queue_id', 'source_type', 'source_method', 'outcome')),
                        ('minute', models.DateTimeField()),
                    ],
                    options={'db_table': named('job_minutes')},
                ),
                migrations.CreateModel(
                    name='TenantHour',
                    fields=[
                        *counted_fields(),
                        ('attempts', models.IntegerField()),
                        ('run_buckets', ArrayField(base_field=models.IntegerField(), size=None)),
                        ('wait_buckets', ArrayField(base_field=models.IntegerField(), size=None)),
                        ('pk', key('tenant_id', 'hour', 'queue_id', 'source_type', 'source_method', 'outcome')),
                        ('tenant_id', models.BigIntegerField()),
                        ('hour', models.DateTimeField()),
                    ],
                    options={'db_table': named('tenant_hours')},
                ),
            ],
        ),

        # Triggers, and keys that delete.
        run('children', migrations.RunSQL.noop),
        run('released', 'DROP FUNCTION slot_deleted, tenant_limits_changed CASCADE'),
        run('awaited', 'DROP FUNCTION awaited_job_ended CASCADE'),
        run('usage', 'DROP FUNCTION usage_is_final CASCADE'),
        run('webhooks', 'DROP FUNCTION announced_job_ended CASCADE; DROP SEQUENCE webhook_seq'),
        run('replay', 'DROP FUNCTION left_line, limits_changed, limits_of CASCADE'),
    ]

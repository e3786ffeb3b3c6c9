"""Events that tenants are told, and jobs wait for."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models.functions import Now

import tenants.tenant_key
from jobs.migrations._all_jobs import with_columns
from plumbing.names import named
from tenants.conf import TENANT_MODEL

ENDS_OR_STOPS = models.Q(('end_time__isnull', True), models.Q(('died_at__isnull', False), ('sequence_stops', True)), _connector='OR')


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0010_units'),
    ]

    operations = [
        *with_columns(
            before=['own_until', 'sequence', 'sequence_stops', 'cursor', 'handed_back', 'handed_back_why', 'units', 'spends'],
            added=['event'],
            operations=[migrations.AddField(model, 'event', models.JSONField(null=True)) for model in ('archivedjob', 'job')],
        ),
        migrations.AddField(
            model_name='job',
            name='waits_for',
            field=models.CharField(max_length=200, null=True),
        ),
        migrations.AddField(
            model_name='jobend',
            name='event',
            field=models.CharField(max_length=200, null=True),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('blocked_at__isnull', False), ('waits_for__isnull', False)), fields=['tenant', 'waits_for', 'id'], name='jobs_waiting_for_event'),
        ),
        migrations.RemoveConstraint('job', 'jobs_one_of_sequence'),
        migrations.AddConstraint(
            model_name='job',
            constraint=models.UniqueConstraint(condition=models.Q(('sequence__isnull', False), models.Q(('blocked_at__isnull', True), ('waits_for__isnull', False), _connector='OR'), ENDS_OR_STOPS), fields=('tenant', 'sequence'), name='jobs_one_of_sequence'),
        ),
        migrations.CreateModel(
            name='JobEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=200)),
                ('payload', models.JSONField()),
                ('told_at', models.DateTimeField(db_default=Now())),
                ('kept_until', models.DateTimeField()),
                ('tenant', tenants.tenant_key.TenantKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=TENANT_MODEL)),
            ],
            options={
                'db_table': named('job_events'),
                'default_permissions': (),
                'indexes': [models.Index(fields=['kept_until'], name='job_events_old')],
                'constraints': [models.UniqueConstraint(fields=('tenant', 'name'), name='job_events_once')],
            },
        ),
    ]

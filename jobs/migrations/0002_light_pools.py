"""Light pools: many jobs in one process."""

import django.db.models.functions.datetime
from django.db import migrations, models

from plumbing.names import named


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='BlockedLoop',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('worker', models.UUIDField()),
                ('pid', models.PositiveIntegerField()),
                ('pool', models.SlugField()),
                ('seats', models.PositiveSmallIntegerField()),
                ('job_id', models.BigIntegerField(null=True)),
                ('attempt', models.PositiveIntegerField(null=True)),
                ('place', models.TextField(db_default='', default='')),
                ('began_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('seconds', models.FloatField(null=True)),
            ],
            options={
                'db_table': named('blocked_loops'),
            },
        ),
        migrations.RemoveConstraint(
            model_name='pool',
            name='pools_are_ordinary',
        ),
        migrations.AddField(
            model_name='poolchange',
            name='seats',
            field=models.PositiveSmallIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='worker',
            name='database_wait',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='pool',
            name='threads',
            field=models.BooleanField(db_default=False),
        ),
        migrations.AddField(
            model_name='worker',
            name='threads',
            field=models.BooleanField(db_default=False),
        ),
        migrations.AddField(
            model_name='worker',
            name='kind',
            field=models.CharField(choices=[('ordinary', 'Ordinary'), ('light', 'Light')], db_default='ordinary', max_length=20),
        ),
        migrations.AlterField(
            model_name='pool',
            name='kind',
            field=models.CharField(choices=[('ordinary', 'Ordinary'), ('light', 'Light')], db_default='ordinary', max_length=20),
        ),
        migrations.AddConstraint(
            model_name='pool',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('kind', 'ordinary'), ('seats', 1), ('threads', False)), models.Q(('kind', 'light'), ('seats__gte', 1), ('seats__lte', 1000)), _connector='OR'), name='pools_have_their_seats'),
        ),
        migrations.RemoveIndex(
            model_name='failedattempt',
            name='failed_attempts_crashes',
        ),
        migrations.AddIndex(
            model_name='failedattempt',
            index=models.Index(condition=models.Q(('error_class__in', ('WorkerGone', 'ProcessDied', 'SharedDeath'))), fields=['end_time'], name='failed_attempts_crashes'),
        ),
        migrations.AddIndex(
            model_name='blockedloop',
            index=models.Index(fields=['began_at'], name='blocked_loops_by_time'),
        ),
        migrations.AddIndex(
            model_name='blockedloop',
            index=models.Index(fields=['job_id'], name='blocked_loops_by_job'),
        ),
    ]

"""The stacks of running bodies that operators ask for."""

import django.db.models.functions.datetime
from django.db import migrations, models

from plumbing.names import named


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0006_wait_targets'),
    ]

    operations = [
        migrations.CreateModel(
            name='Stack',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('job_id', models.BigIntegerField()),
                ('attempt', models.PositiveIntegerField()),
                ('asked_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('answered_at', models.DateTimeField(null=True)),
                ('text', models.TextField(db_default='', default='')),
                ('note', models.CharField(db_default='', default='', max_length=200)),
            ],
            options={
                'db_table': named('stacks'),
                'default_permissions': (),
                'indexes': [models.Index(fields=['job_id'], name='stacks_of_job')],
            },
        ),
    ]

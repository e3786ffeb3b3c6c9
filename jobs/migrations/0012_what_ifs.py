import django.db.models.functions.datetime
from django.db import migrations, models

from tenants.names import named


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0011_batches_of_webhooks'),
    ]

    operations = [
        migrations.CreateModel(
            name='WhatIf',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('asked_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
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
    ]

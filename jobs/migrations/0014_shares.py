from django.db import migrations, models

from tenants.names import named


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0013_trace_parent'),
    ]

    operations = [
        migrations.CreateModel(
            name='MayRun',
            fields=[
                ('job_id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('since', models.DateTimeField()),
            ],
            options={
                'db_table': named('may_run'),
            },
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
            options={
                'db_table': named('tenant_shares'),
            },
        ),
        migrations.AddField(
            model_name='sample',
            name='fairness',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='sample',
            name='states',
            field=models.JSONField(db_default={}, default=dict),
        ),
    ]

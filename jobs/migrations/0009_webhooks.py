import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import tenants.tenant_key
from django.db import migrations, models

from tenants.conf import TENANT_MODEL
from tenants.names import named, with_our_names

# Whoever ends a job that its tenant's system is told of leaves an event for the clock (jobs/engine/webhooks/announce.py).
TRIGGERS = """
CREATE FUNCTION announced_job_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO webhook_events (tenant_id, job_id, attempt, status, ended_at)
    VALUES (NEW.tenant_id, NEW.id, NEW.attempt, NEW.status, NEW.end_time);
    RETURN NULL;
END
$$;

CREATE TRIGGER announced_job_ended AFTER UPDATE OF status ON jobs
FOR EACH ROW WHEN (NEW.announced AND OLD.end_time IS NULL AND NEW.end_time IS NOT NULL)
EXECUTE FUNCTION announced_job_ended();
"""
DROP_TRIGGERS = """
DROP TRIGGER announced_job_ended ON jobs;
DROP FUNCTION announced_job_ended;
"""


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0008_forecasts'),
        migrations.swappable_dependency(TENANT_MODEL),
    ]

    operations = [
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
            options={
                'db_table': named('webhook_events'),
                'default_permissions': (),
            },
        ),
        migrations.AddField(
            model_name='job',
            name='announced',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.CreateModel(
            name='WebhookEndpoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('url', models.CharField(max_length=500)),
                ('types', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=301), blank=True, default=list, size=None)),
                ('salt', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('failing_since', models.DateTimeField(null=True)),
                ('last_error', models.CharField(default='', max_length=300)),
                ('off_at', models.DateTimeField(null=True)),
                ('tenant', tenants.tenant_key.TenantKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=TENANT_MODEL)),
            ],
            options={
                'db_table': named('webhook_endpoints'),
            },
        ),
        migrations.RunSQL(with_our_names(TRIGGERS), with_our_names(DROP_TRIGGERS)),
    ]

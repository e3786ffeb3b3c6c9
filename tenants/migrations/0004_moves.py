"""Moves of tenants between installations."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models.functions import Now

import tenants.tenant_key
from plumbing.names import named
from tenants.conf import TENANT_MODEL

STATES = [('closing', 'Closing'), ('exported', 'Exported'), ('moved', 'Moved'), ('arrived', 'Arrived')]


class Migration(migrations.Migration):

    dependencies = [
        (named('tenants'), '0003_budgets'),
        migrations.swappable_dependency(TENANT_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='tenantqueue',
            name='moving',
            field=models.CharField(blank=True, choices=STATES, db_default='', default='', editable=False, max_length=8),
        ),
        migrations.AddConstraint(
            model_name='tenantqueue',
            constraint=models.CheckConstraint(condition=models.Q(('moving', ''), ('paused', True), _connector='OR'), name='tenant_queues_moving_is_paused', violation_error_message='The tenant moves between installations, and stays paused until it is opened.'),
        ),
        migrations.CreateModel(
            name='TenantMove',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('move', models.UUIDField(unique=True)),
                ('address', models.CharField(db_default='', default='', max_length=500)),
                ('was_paused', models.BooleanField()),
                ('key', models.CharField(db_default='', default='', max_length=32)),
                ('receipt', models.CharField(db_default='', default='', max_length=32)),
                ('waiting', models.BigIntegerField(null=True)),
                ('at', models.DateTimeField(db_default=Now())),
                ('tenant', tenants.tenant_key.TenantKey(on_delete=django.db.models.deletion.CASCADE, related_name='jobs_moves', to=TENANT_MODEL)),
            ],
            options={
                'db_table': named('tenant_moves'),
                'default_permissions': (),
            },
        ),
    ]

"""Wait targets of queues, and how often they were kept."""

from pathlib import Path

import django.core.validators
from django.db import migrations, models

from plumbing.names import named, with_our_names

STATEMENTS = Path(__file__).with_name('wait_targets.sql').read_text()


def kept(model, count):
    return [migrations.AddField(model, name, count(db_default=0)) for name in ('targeted', 'in_time')]


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0005_tenant_slots'),
    ]

    operations = [
        migrations.AddField(
            model_name='queue',
            name='wait_target',
            field=models.FloatField(blank=True, help_text="Seconds in which a job that its tenant's limits let start shall get a process. Empty: no target.", null=True, validators=[django.core.validators.MinValueValidator(0.001), django.core.validators.MaxValueValidator(31622400.0)]),
        ),
        migrations.AddConstraint(
            model_name='queue',
            constraint=models.CheckConstraint(condition=models.Q(('wait_target__isnull', True), models.Q(('wait_target__gt', 0), ('wait_target__lte', 31622400.0)), _connector='OR'), name='queues_wait_target_positive'),
        ),
        *kept('jobminute', models.IntegerField),
        *kept('tenanthour', models.IntegerField),
        *kept('total', models.BigIntegerField),
        *kept('usageday', models.BigIntegerField),
        migrations.AddField('closedday', 'kept', models.JSONField(db_default={}, default=dict)),
        migrations.RunSQL(with_our_names(STATEMENTS), migrations.RunSQL.noop),
    ]

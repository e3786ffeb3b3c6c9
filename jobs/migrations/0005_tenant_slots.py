"""Slots of a tenant in a queue."""

from pathlib import Path

import django.core.validators
from django.db import migrations, models

from plumbing.names import named, with_our_names

STATEMENTS = Path(__file__).with_name('tenant_slots.sql').read_text()


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0004_sequences'),
        (named('tenants'), '0002_tenant_slots'),
    ]

    operations = [
        migrations.AddField(
            model_name='queue',
            name='tenant_slots',
            field=models.PositiveIntegerField(blank=True, help_text='The most of its slots that a tenant holds here at once. Empty: no limit.', null=True, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(10000)], verbose_name='slots of a tenant'),
        ),
        migrations.AddConstraint(
            model_name='queue',
            constraint=models.CheckConstraint(condition=models.Q(('tenant_slots__gte', 1)), name='queues_tenant_slots_positive'),
        ),
        migrations.AlterField(
            model_name='lane',
            name='state',
            field=models.CharField(choices=[('ready', 'Ready'), ('empty', 'Empty'), ('closed', 'Closed'), ('full', 'Full')], max_length=6),
        ),
        migrations.RemoveIndex(
            model_name='lane',
            name='lanes_closed',
        ),
        migrations.AddIndex(
            model_name='lane',
            index=models.Index(condition=models.Q(('state__in', ['closed', 'full'])), fields=['tenant_id', 'version'], name='lanes_closed'),
        ),
        migrations.RunSQL(with_our_names(STATEMENTS), with_our_names('DROP FUNCTION queue_slots_changed CASCADE')),
    ]

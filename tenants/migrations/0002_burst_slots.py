"""Slots that a tenant may borrow."""

import django.core.validators
from django.db import migrations, models

from tenants.migrations._operations import WAIT_BRIEFLY
from plumbing.names import named


class Migration(migrations.Migration):

    dependencies = [(named('tenants'), '0001_initial')]

    operations = [
        WAIT_BRIEFLY,
        migrations.AddField(
            'tenantqueue',
            'burst_slots',
            models.PositiveIntegerField(blank=True, help_text='Slots that it may hold while processes are idle that nobody else may use. Empty: it borrows none.', null=True, validators=[django.core.validators.MaxValueValidator(10000)], verbose_name='slots with borrowed ones'),
        ),
        migrations.AddConstraint(
            'tenantqueue',
            models.CheckConstraint(condition=models.Q(('burst_slots__lte', 10000)), name='tenant_queues_burst_slots_bounded'),
        ),
    ]

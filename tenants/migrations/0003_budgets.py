"""Budgets of tenants for a month."""

from django.db import migrations

import tenants.budgets
from plumbing.names import named, with_our_names

# The door compares these numbers: one that is none would stop it. `budgets.check` says the same to people.
WHOLE = """
ALTER TABLE tenant_queues ADD CONSTRAINT tenant_queues_budgets_whole CHECK (
    jsonb_typeof(budgets) = 'object'
    AND NOT budgets @? 'strict $.* ? (@.type() != "number" || @ < 1 || @ > 1000000000000000 || @.floor() != @)'
)
"""


class Migration(migrations.Migration):

    dependencies = [
        (named('tenants'), '0002_tenant_slots'),
    ]

    operations = [
        migrations.AddField(
            model_name='tenantqueue',
            name='budgets',
            field=tenants.budgets.Budgets(blank=True, db_default={}, default=dict, help_text='What its jobs may use in a month (UTC), by unit, such as tokens=1000000. Empty: no limit.', verbose_name='budgets'),
        ),
        migrations.RunSQL(
            with_our_names(WHOLE),
            with_our_names('ALTER TABLE tenant_queues DROP CONSTRAINT tenant_queues_budgets_whole'),
        ),
    ]

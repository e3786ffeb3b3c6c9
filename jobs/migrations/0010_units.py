"""What attempts use, by unit; and the budgets of tenants for it."""

from pathlib import Path

import django.contrib.postgres.fields
from django.db import migrations, models

from jobs.migrations._all_jobs import with_columns
from plumbing.names import named, with_our_names

STATEMENTS = with_our_names(Path(__file__).with_name('units.sql').read_text())
UNDO = """
DROP FUNCTION spend;
DROP FUNCTION budgets_at;
DROP FUNCTION month_of;
DROP FUNCTION less_units;
DROP AGGREGATE sum_units(jsonb);
DROP FUNCTION add_units;
"""


def amounts(model, name='units'):
    return migrations.AddField(model, name, models.JSONField(null=True))


def spends(model):
    field = django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), null=True, size=None)
    return migrations.AddField(model, 'spends', field)


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0009_checkpoints'),
        (named('tenants'), '0003_budgets'),
    ]

    operations = [
        *with_columns(
            before=['own_until', 'sequence', 'sequence_stops', 'cursor', 'handed_back', 'handed_back_why'],
            added=['units', 'spends'],
            operations=[amounts('job'), spends('job'), amounts('archivedjob'), spends('archivedjob')],
        ),
        amounts('attempt'),
        amounts('tenanthour'),
        amounts('usageday'),
        amounts('freedslot'),
        amounts('tenantbook', 'used'),
        migrations.CreateModel(
            name='SpentBudget',
            fields=[
                ('pk', models.CompositePrimaryKey('tenant_id', 'unit', blank=True, editable=False, primary_key=True, serialize=False)),
                ('tenant_id', models.BigIntegerField()),
                ('unit', models.CharField(max_length=40)),
                ('since', models.DateTimeField()),
            ],
            options={
                'db_table': named('spent_budgets'),
            },
        ),
        migrations.RunSQL(STATEMENTS, UNDO),
    ]

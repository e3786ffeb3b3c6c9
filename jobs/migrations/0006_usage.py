from pathlib import Path

import django.contrib.postgres.indexes
from django.db import migrations, models

from tenants.names import named, with_our_names

TRIGGERS = (Path(__file__).parent / 'usage' / 'triggers.sql').read_text()
DROP_TRIGGERS = """
DROP TRIGGER usage_is_final ON usage_days;
DROP TRIGGER slot_peak_is_final ON slot_peaks;
DROP FUNCTION usage_is_final;
"""


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0005_replaced'),
    ]

    operations = [
        migrations.CreateModel(
            name='ClosedDay',
            fields=[
                ('day', models.DateField(primary_key=True, serialize=False)),
                ('closed_at', models.DateTimeField()),
            ],
            options={
                'db_table': named('closed_days'),
            },
        ),
        migrations.CreateModel(
            name='SlotPeak',
            fields=[
                ('pk', models.CompositePrimaryKey('tenant_id', 'day', blank=True, editable=False, primary_key=True, serialize=False)),
                ('tenant_id', models.BigIntegerField()),
                ('day', models.DateField()),
                ('slots', models.PositiveIntegerField()),
            ],
            options={
                'db_table': named('slot_peaks'),
                'indexes': [django.contrib.postgres.indexes.BrinIndex(fields=['day'], name='slot_peaks_by_day', pages_per_range=32)],
            },
        ),
        migrations.CreateModel(
            name='UsageDay',
            fields=[
                ('pk', models.CompositePrimaryKey('tenant_id', 'day', 'queue_id', 'source_type', 'source_method', 'outcome', 'ended_on', blank=True, editable=False, primary_key=True, serialize=False)),
                ('tenant_id', models.BigIntegerField()),
                ('day', models.DateField()),
                ('queue_id', models.BigIntegerField()),
                ('source_type', models.CharField(max_length=200)),
                ('source_method', models.CharField(max_length=100)),
                ('outcome', models.CharField(max_length=9)),
                ('ended_on', models.DateField()),
                ('attempts', models.BigIntegerField()),
                ('microseconds', models.BigIntegerField()),
            ],
            options={
                'db_table': named('usage_days'),
                'indexes': [django.contrib.postgres.indexes.BrinIndex(fields=['day'], name='usage_days_by_day', pages_per_range=32)],
                'constraints': [models.CheckConstraint(condition=models.Q(('ended_on__lte', models.F('day'))), name='usage_days_not_ahead'), models.CheckConstraint(condition=models.Q(('attempts__gt', 0), ('microseconds__gte', 0)), name='usage_days_of_something')],
            },
        ),
        migrations.RunSQL(with_our_names(TRIGGERS), with_our_names(DROP_TRIGGERS)),
    ]

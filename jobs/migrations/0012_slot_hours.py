"""The work in the slots of tenants, by the hour."""

from django.db import migrations, models

from plumbing.names import named


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0011_events'),
    ]

    operations = [
        migrations.CreateModel(
            name='SlotHour',
            fields=[
                ('pk', models.CompositePrimaryKey('hour', 'tenant_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('hour', models.DateTimeField()),
                ('tenant_id', models.BigIntegerField()),
                ('seconds', models.FloatField()),
                ('most', models.PositiveIntegerField()),
            ],
            options={
                'db_table': named('slot_hours'),
            },
        ),
    ]

import django.db.models.deletion
from django.db import migrations, models

from tenants.names import named


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0014_validate_one_check'),
    ]

    operations = [
        migrations.CreateModel(
            name='BatchCancel',
            fields=[
                ('batch', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to=named('jobs.batch'))),
                ('tenant_id', models.BigIntegerField(null=True)),
                ('bulk', models.UUIDField()),
                ('after', models.BigIntegerField(db_default=0, default=0)),
            ],
            options={
                'db_table': named('batch_cancels'),
                'default_permissions': (),
            },
        ),
    ]

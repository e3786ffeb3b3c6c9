import django.contrib.postgres.fields
from django.db import migrations, models

from tenants.names import named


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0010_changes'),
    ]

    operations = [
        migrations.AddField(
            model_name='webhookendpoint',
            name='batches',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), blank=True, db_default=[], default=list, size=None),
        ),
    ]

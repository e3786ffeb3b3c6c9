"""What the newest of identical calls replaces."""

from django.db import migrations, models

from tenants.names import named


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0004_jobs_that_wait'),
    ]

    operations = [
        migrations.AddField(
            model_name='job',
            name='behind',
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='job',
            name='replaced_by',
            field=models.BigIntegerField(null=True),
        ),
    ]

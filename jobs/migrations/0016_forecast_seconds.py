from django.db import migrations, models

from tenants.names import named


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0015_batch_cancels'),
    ]

    operations = [
        migrations.AddField(
            model_name='recorded',
            name='seconds',
            field=models.FloatField(null=True),
        ),
    ]

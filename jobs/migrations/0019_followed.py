from django.db import migrations, models

from tenants.names import named


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0018_charges'),
    ]

    operations = [
        migrations.AddField(
            model_name='job',
            name='followed',
            field=models.IntegerField(db_default=0, default=0),
        ),
    ]

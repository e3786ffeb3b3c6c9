from django.db import migrations, models

from tenants.names import named


class Migration(migrations.Migration):

    dependencies = [
        (named('jobs'), '0017_references_without_constraints'),
    ]

    operations = [
        migrations.AddField(
            model_name='freedslot',
            name='lost_process',
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]

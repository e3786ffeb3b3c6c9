from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

from tenants.names import named


class Migration(migrations.Migration):

    atomic = False  # jobs are written meanwhile

    dependencies = [
        (named('jobs'), '0008_history'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='job',
            index=models.Index(condition=models.Q(('died_at__isnull', True), ('end_time__isnull', False)), fields=['end_time'], name='jobs_ended'),
        ),
    ]

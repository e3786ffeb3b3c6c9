from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

from tenants.names import named


class Migration(migrations.Migration):

    atomic = False  # attempts fail meanwhile

    dependencies = [
        (named('jobs'), '0014_shares'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='failedattempt',
            index=models.Index(condition=models.Q(('error_class__in', ('WorkerGone', 'ProcessDied'))), fields=['end_time'], name='failed_attempts_crashes'),
        ),
    ]

"""The recorder remembers which jobs may run, and notes what is late of each pool.

The release before reads and writes `may_run`: the table goes with the next one.
"""

from django.db import migrations, models

from tenants.migrations._operations import WAIT_BRIEFLY
from plumbing.names import named


class Migration(migrations.Migration):

    dependencies = [(named('jobs'), '0004_prediction_totals')]

    operations = [
        WAIT_BRIEFLY,
        migrations.AddField(model_name='recorded', name='late', field=models.JSONField(null=True)),
        migrations.SeparateDatabaseAndState(state_operations=[migrations.DeleteModel(name='MayRun')]),
    ]

"""The database deletes the failed attempts of a job with it.

Django would load all jobs of a tenant that is deleted, and fail if one of them fails meanwhile.
"""

import django.db.models.deletion
from django.db import migrations, models

from jobs.migrations._operations import delete_with_parent
from plumbing.names import named


class Migration(migrations.Migration):
    atomic = False  # jobs run on while it validates
    dependencies = [(named('jobs'), '0007_predecessors_of_ended_jobs')]

    operations = [
        migrations.SeparateDatabaseAndState(state_operations=[
            migrations.AlterField('failedattempt', 'job', models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='failed_attempts', to=named('jobs.job'),
            )),
        ]),
        delete_with_parent('FailedAttempt', 'job_id', 'jobs'),
    ]

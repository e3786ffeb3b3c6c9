"""The database deletes the failed attempts of a job with it.

Django would load all jobs of a tenant that is deleted, and fail if one of them fails meanwhile.
"""

import django.db.models.deletion
from django.db import migrations, models, transaction

from tenants.migrations._operations import BRIEFLY
from tenants.names import named


def with_their_job(apps, schema_editor):
    attempts = apps.get_model(named('jobs'), 'FailedAttempt')
    table, jobs = (schema_editor.quote_name(named(name)) for name in ('failed_attempts', 'jobs'))
    for name in schema_editor._constraint_names(attempts, ['job_id'], foreign_key=True):
        with transaction.atomic(schema_editor.connection.alias):
            schema_editor.execute(BRIEFLY)
            schema_editor.execute(
                f'ALTER TABLE {table} DROP CONSTRAINT "{name}", ADD CONSTRAINT "{name}" FOREIGN KEY (job_id)'
                f' REFERENCES {jobs} (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED NOT VALID'
            )
        schema_editor.execute(f'ALTER TABLE {table} VALIDATE CONSTRAINT "{name}"')


class Migration(migrations.Migration):
    atomic = False  # jobs run on while it validates
    dependencies = [(named('jobs'), '0007_predecessors_of_ended_jobs')]

    operations = [
        migrations.SeparateDatabaseAndState(state_operations=[
            migrations.AlterField('failedattempt', 'job', models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='failed_attempts', to=named('jobs.job'),
            )),
        ]),
        migrations.RunPython(with_their_job, migrations.RunPython.noop),
    ]

"""The database deletes the runs of a schedule with it.

Django would delete them first, and fail if the clock adds one before it deletes the schedule.
"""

import django.db.models.deletion
from django.db import migrations, models

from jobs.migrations._operations import delete_with_parent
from plumbing.names import named


class Migration(migrations.Migration):
    atomic = False  # schedules run on while it validates
    dependencies = [(named('jobs'), '0009_workers_cut_off')]

    operations = [
        migrations.SeparateDatabaseAndState(state_operations=[
            migrations.AlterField('schedulerun', 'schedule', models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='runs', to=named('jobs.schedule'),
            )),
        ]),
        delete_with_parent('ScheduleRun', 'schedule_id', 'schedules'),
    ]

"""Since when no code declares a schedule: it sleeps until it is declared again, and is not deleted."""

from django.db import migrations, models

from tenants.migrations._operations import WAIT_BRIEFLY
from plumbing.names import named


class Migration(migrations.Migration):
    dependencies = [(named('jobs'), '0010_schedule_runs_with_their_schedule')]

    operations = [
        WAIT_BRIEFLY,
        migrations.AddField('schedule', 'undeclared_at', models.DateTimeField(blank=True, null=True)),
    ]

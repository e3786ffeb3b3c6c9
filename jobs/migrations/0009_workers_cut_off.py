"""A worker says whether the broker answers it."""

from django.db import migrations, models

from tenants.migrations._operations import WAIT_BRIEFLY
from plumbing.names import named


class Migration(migrations.Migration):

    dependencies = [(named('jobs'), '0008_failed_attempts_with_their_job')]

    operations = [
        WAIT_BRIEFLY,
        migrations.AddField('worker', 'cut_off_at', models.DateTimeField(null=True)),
    ]

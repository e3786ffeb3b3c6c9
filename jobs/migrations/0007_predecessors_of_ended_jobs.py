"""A job that is revived out of the history knows what it waited for: it asks for their results."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models

from tenants.migrations._operations import WAIT_BRIEFLY
from plumbing.names import named


class Migration(migrations.Migration):

    dependencies = [(named('jobs'), '0006_published_deletes')]

    operations = [
        WAIT_BRIEFLY,
        migrations.AddField('archivedjob', 'predecessors', ArrayField(models.BigIntegerField(), null=True)),
    ]

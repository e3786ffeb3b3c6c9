"""A pass reads the turns of the queues that are awake, and of the lanes of a tenant only those that are closed."""

from django.db import migrations, models

from tenants.migrations._operations import WAIT_BRIEFLY
from plumbing.names import named


class Migration(migrations.Migration):

    dependencies = [(named('jobs'), '0012_outbox_of_webhooks')]

    operations = [
        WAIT_BRIEFLY,
        migrations.AddField('door', 'floor', models.BigIntegerField(db_default=0, default=0)),
        migrations.AddField('queueturn', 'state', models.CharField(choices=[('ready', 'Ready'), ('empty', 'Empty'), ('keeps', 'Keeps'), ('asleep', 'Asleep')], db_default='ready', default='ready', max_length=6)),
        migrations.AddField('tenantbook', 'opened', models.BigIntegerField(db_default=0, default=0)),
        migrations.AddIndex('lane', models.Index(condition=models.Q(('state', 'closed')), fields=['tenant_id', 'version'], name='lanes_closed')),
        migrations.AddIndex('queueturn', models.Index(condition=models.Q(('state', 'asleep'), _negated=True), fields=['version'], name='queue_turns_awake')),
    ]

"""Slots of a tenant in single queues."""

from django.db import migrations

import tenants.slots_by_queue
from plumbing.names import named, with_our_names

# The claim reads these numbers: one that is none would stop it. `slots_by_queue.check` says the same to people.
WHOLE = """
ALTER TABLE tenant_queues ADD CONSTRAINT tenant_queues_queue_slots_whole CHECK (
    jsonb_typeof(queue_slots) = 'object'
    AND NOT queue_slots @? 'strict $.* ? (@.type() != "number" || @ < 1 || @ > 10000 || @.floor() != @)'
)
"""


class Migration(migrations.Migration):

    dependencies = [
        (named('tenants'), '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='tenantqueue',
            name='queue_slots',
            field=tenants.slots_by_queue.SlotsByQueue(blank=True, db_default={}, default=dict, help_text='The most of its slots in a queue, such as exports=3. Empty: as the queue says.', verbose_name='slots by queue'),
        ),
        migrations.RunSQL(
            with_our_names(WHOLE),
            with_our_names('ALTER TABLE tenant_queues DROP CONSTRAINT tenant_queues_queue_slots_whole'),
        ),
    ]

"""The debt of a rate limit is in tokens: the limit under which a bucket was written stands beside it."""

from django.db import migrations, models

from tenants.migrations._operations import WAIT_BRIEFLY
from plumbing.names import named

# The functions of older releases stay, for their processes beside ours.
FUNCTION = """
-- When a bucket that was written under another limit is full under this one: as many tokens are missing, but not more than it can
-- hold. One that would be full only after two windows was written before the clock was set back, and begins anew.
CREATE FUNCTION rate_full_at(
    allowed int, seconds float8, full_at timestamptz, old_allowed int, old_seconds float8, now timestamptz
) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN coalesce((old_allowed, old_seconds) = (allowed, seconds), true) THEN CASE
        WHEN rate_full_at(seconds, full_at, now) IS NOT NULL THEN least(full_at, now + seconds * interval '1 second')
    END
    WHEN rate_full_at(old_seconds, full_at, now) > now THEN now + seconds / allowed * least(
        extract(epoch FROM full_at - now)::float8 * old_allowed / old_seconds, old_allowed, allowed
    ) * interval '1 second'
END
"""


class Migration(migrations.Migration):

    dependencies = [(named('jobs'), '0013_queues_that_sleep')]

    operations = [
        WAIT_BRIEFLY,
        *(
            migrations.AddField(model, name, field)
            for model in ('queueturn', 'tenantbook')
            for name, field in (('full_limit', models.IntegerField(null=True)), ('full_window', models.FloatField(null=True)))
        ),
        migrations.RunSQL(FUNCTION, 'DROP FUNCTION rate_full_at(int, float8, timestamptz, int, float8, timestamptz)'),
    ]

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

from tenants.names import named

# Every statement that writes a row of `jobs` reads the text of all its CHECK constraints anew, and plans them: 50 us for the
# sixteen that there were. The plan of this one is kept by the session.
FUNCTION = """
CREATE FUNCTION job_is_whole(
    status text, blocked_at timestamptz, due_at timestamptz, ready_at timestamptz, slot int, end_time timestamptz,
    died_at timestamptz, worker uuid, start_time timestamptz, ticket bigint, attempt int,
    priority int, crashes int, retries int, max_retries int, memory int, worker_pid int, result_bytes int
) RETURNS bool LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN num_nonnulls(blocked_at, due_at, ready_at, slot, end_time) = 1  -- exactly one witness: that of the status
        AND status = ANY (
            CASE
            WHEN blocked_at IS NOT NULL THEN '{blocked}'::text[]
            WHEN due_at IS NOT NULL THEN '{scheduled}'
            WHEN ready_at IS NOT NULL THEN '{created}'
            WHEN slot IS NOT NULL THEN '{queued,running}'
            ELSE '{success,error,dead,cancelled}'
            END
        )
        AND (status = 'dead') = (died_at IS NOT NULL)
        AND (status <> 'running' OR num_nulls(worker, start_time) = 0)
        AND (slot IS NULL OR slot >= 1 AND ticket IS NOT NULL AND attempt >= 1)
        AND priority BETWEEN 0 AND 10
        AND least(attempt, crashes, retries, max_retries, memory, worker_pid, result_bytes) >= 0;
END
$$;
"""

REPLACED = [
    'jobs_no_half_state',
    'jobs_priority_0_to_10',
    'jobs_slot_from_1',
    'jobs_slot_has_ticket',
    'jobs_running_has_worker',
    'jobs_holder_has_attempt',
    'jobs_dead_has_moment',
]
# Without the check that each of a positive field is.
FIELDS = {
    'attempt': models.IntegerField(default=0),
    'crashes': models.SmallIntegerField(default=0),
    'max_retries': models.IntegerField(null=True),
    'memory': models.IntegerField(null=True),
    'priority': models.SmallIntegerField(default=5),
    'result_bytes': models.IntegerField(null=True),
    'retries': models.IntegerField(default=0),
    'slot': models.IntegerField(null=True),
    'worker_pid': models.IntegerField(null=True),
}
WHOLE = models.CheckConstraint(
    condition=models.Func(
        *('status', 'blocked_at', 'due_at', 'ready_at', 'slot', 'end_time', 'died_at', 'worker', 'start_time', 'ticket'),
        *('attempt', 'priority', 'crashes', 'retries', 'max_retries', 'memory', 'worker_pid', 'result_bytes'),
        function='job_is_whole',
        output_field=models.BooleanField(),
    ),
    name='jobs_whole',
)


class Migration(migrations.Migration):
    dependencies = [(named('jobs'), '0012_what_ifs')]

    operations = [
        migrations.RunSQL(FUNCTION, 'DROP FUNCTION job_is_whole'),
        AddConstraintNotValid('job', WHOLE),  # the next migration looks at the rows that there are, and locks nothing
        *[migrations.RemoveConstraint('job', name) for name in REPLACED],
        *[migrations.AlterField(model, name, field) for model in ('job', 'archivedjob') for name, field in FIELDS.items()],
    ]

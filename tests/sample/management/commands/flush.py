"""Django's `flush`, which empties the tables after each test that commits, at a small part of its price.

Django truncates every table, and then makes every content type and permission anew. TRUNCATE gives a table and each of
its indexes a new file, however empty they were: with more than a thousand such tests that was half of their time.
"""

from functools import cache
from typing import Any

from django.core.management.base import BaseCommand
from django.db import connections

from jobs.models import FreedSlot, JobEnd, LimitChange, Queue
from plumbing.names import PREFIX

KEPT = {"django_content_type", "auth_permission"}  # as `migrate` has left them
BY_TRIGGERS = (FreedSlot, JobEnd, LimitChange)  # which write when other rows are deleted
QUEUES = ("default", "reports")  # these two it makes
EMPTY = """
-- The connection goes on to the next test.
UNLISTEN *;
SELECT pg_advisory_unlock_all();
DO $$
DECLARE
    name text;
    size bigint;
    small text[] := '{}';
BEGIN
    -- As TRUNCATE does: wait for whoever is still at it, like the server process of a worker that was killed.
    LOCK TABLE %(tables)s IN ACCESS EXCLUSIVE MODE;
    FOREACH name IN ARRAY '{%(tables)s}'::text[] LOOP
        -- The rows of a partitioned table are in its partitions; of another table the tree is empty.
        SELECT pg_relation_size(name) + coalesce(sum(pg_relation_size(relid)), 0) INTO size
        FROM pg_partition_tree(name);
        IF size > 65536 THEN
            EXECUTE 'TRUNCATE ' || name || ' CASCADE';
        ELSIF size > 0 THEN
            small := small || name;
        END IF;
    END LOOP;
    FOREACH name IN ARRAY small LOOP  -- after all: what is truncated must have no foreign key left to check
        EXECUTE 'DELETE FROM ' || name;
    END LOOP;
    DELETE FROM %(freed_slots)s;  -- a job that was deleted in its slot has left a row
    DELETE FROM %(job_ends)s;  -- so has one that others waited for, or of a batch
    DELETE FROM %(limit_changes)s;  -- and a queue or a tenant
END $$
"""


@cache
def tables(database: str) -> tuple[str, ...]:
    """Of all models, as `migrate` has made them: to ask for them takes longer than to empty them."""
    return tuple(sorted(set(connections[database].introspection.django_table_names(only_existing=True)) - KEPT))


class Command(BaseCommand):
    help = "Empty the tables between two tests."
    stealth_options = ("interactive", "reset_sequences", "allow_cascade", "inhibit_post_migrate", "database")

    def handle(self, *, database: str, **_: Any) -> None:
        """Leave what `migrate` leaves."""
        with connections[database].cursor() as cursor:
            written = {model._meta.db_table.removeprefix(PREFIX): model._meta.db_table for model in BY_TRIGGERS}
            cursor.execute(EMPTY % {"tables": ",".join(tables(database)), **written})
        Queue.objects.using(database).bulk_create(Queue(name=name) for name in QUEUES)  # without a dispatch for each

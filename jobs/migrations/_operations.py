"""Operations of several migrations."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import transaction
from django.db.migrations import AddIndex, RunPython

from tenants.migrations._operations import BRIEFLY
from plumbing.names import named


class AddIndexBeside(AddIndexConcurrently):
    """Make it beside running jobs; in a transaction as any other, since there the database refuses that.

    django-tenants runs all migrations in the transaction that adds a tenant, for its schema, where they make nothing.
    """

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        kind = AddIndex if schema_editor.connection.in_atomic_block else AddIndexConcurrently
        kind.database_backwards(self, app_label, schema_editor, from_state, to_state)  # what an interrupted one has left
        kind.database_forwards(self, app_label, schema_editor, from_state, to_state)


def delete_with_parent(model, column, parent):
    """Let the database delete the rows of a model with the row that the column refers to. For a migration that is not atomic:
    rows are written on while it validates.

    Django would delete them first, and fail if one is added before it deletes the parent.
    """

    def change(apps, schema_editor):
        child = apps.get_model(named('jobs'), model)
        table, parents = (schema_editor.quote_name(name) for name in (child._meta.db_table, named(parent)))
        for name in schema_editor._constraint_names(child, [column], foreign_key=True):
            with transaction.atomic(schema_editor.connection.alias):
                schema_editor.execute(BRIEFLY)
                schema_editor.execute(
                    f'ALTER TABLE {table} DROP CONSTRAINT "{name}", ADD CONSTRAINT "{name}" FOREIGN KEY ({column})'
                    f' REFERENCES {parents} (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED NOT VALID'
                )
            schema_editor.execute(f'ALTER TABLE {table} VALIDATE CONSTRAINT "{name}"')

    return RunPython(change, RunPython.noop)

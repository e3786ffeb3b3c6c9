"""Operations of several migrations."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db.migrations import AddIndex


class AddIndexBeside(AddIndexConcurrently):
    """Make it beside running jobs; in a transaction as any other, since there the database refuses that.

    django-tenants runs all migrations in the transaction that adds a tenant, for its schema, where they make nothing.
    """

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        kind = AddIndex if schema_editor.connection.in_atomic_block else AddIndexConcurrently
        kind.database_backwards(self, app_label, schema_editor, from_state, to_state)  # what an interrupted one has left
        kind.database_forwards(self, app_label, schema_editor, from_state, to_state)

"""A session that has kept a plan survives a migration that changes the type of a column, as a longer name does."""

from collections.abc import Iterator

import pytest
from django.db import IntegrityError, NotSupportedError, connection, connections, transaction

from plumbing.prepared import prepared, prepared_on
from tenants import auth
from tenants.models import Tenant
from tests.factories import TenantFactory
from tests.sql import sql

pytestmark = pytest.mark.django_db(transaction=True)
OFTEN = 4  # times after which the plan is kept
NAMES = f"SELECT name FROM {Tenant._meta.db_table} WHERE id = %(id)s"


@pytest.fixture
def widen(onlooker) -> Iterator:
    """Somebody else migrates: psycopg would forget the plans of a session that does it itself."""
    length = Tenant._meta.get_field("name").max_length
    change = f"ALTER TABLE {Tenant._meta.db_table} ALTER name TYPE varchar({{}})"
    yield lambda by: onlooker.execute(change.format(length + by))
    connection.close()
    onlooker.execute(change.format(length))


def test_a_key_goes_on_to_name_its_tenant_and_a_strangers_his_and_a_transaction_fails_once(widen):
    owner, stranger = TenantFactory(), TenantFactory()
    tokens = {tenant: auth.issue(tenant, "test")[1] for tenant in (owner, stranger)}
    for _ in range(OFTEN):
        assert auth.tenant_of(tokens[owner]) == owner
    widen(1)
    for tenant, token in tokens.items():
        assert auth.tenant_of(token) == tenant
    for _ in range(OFTEN):
        prepared(NAMES, id=owner.pk)
    widen(2)
    with pytest.raises(NotSupportedError), transaction.atomic():
        prepared(NAMES, id=owner.pk)
    with transaction.atomic():
        assert prepared(NAMES, id=owner.pk) == [(owner.name,)]


def test_a_statement_whose_commit_fails_is_refused_as_django_says():
    """As on a full disk, where this says whether the same statement may succeed later."""
    sql("CREATE TEMP TABLE singles (once int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
    for _ in range(OFTEN):
        with pytest.raises(IntegrityError):
            prepared("INSERT INTO singles SELECT 1 FROM generate_series(1, %(times)s) RETURNING once", times=2)


@pytest.mark.parametrize("options", [{}, {"server_side_binding": True}], ids=["as Django binds", "as the server binds"])
def test_djangos_log_of_queries_has_it_and_what_a_wrapper_writes_before_it_is_dropped(options):
    """DEBUG = True turns the log on. pghistory looks at the transaction, and puts a second command there."""

    def inject(execute, sql, params, many, context):
        assert context["cursor"].connection.info.transaction_status is not None
        return execute(f"SELECT set_config('history.of', %s, true); {sql}", ["x", *params], many, context)

    database = connections.create_connection("default")
    database.settings_dict = {**connection.settings_dict, "OPTIONS": connection.settings_dict["OPTIONS"] | options}
    database.force_debug_cursor = True
    try:
        with database.execute_wrapper(inject):
            assert prepared_on(database, "SELECT 10 %% %(n)s::int", n=4) == [(2,)]
        assert database.queries_log[-1]["sql"].startswith("SELECT 10 %")
    finally:
        database.close()

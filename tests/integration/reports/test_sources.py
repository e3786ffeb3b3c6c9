"""A report reads a customer's database, with a role of the customer's: never as the worker, never our own tables."""

import pytest
from django.core.exceptions import ValidationError
from django.db import connection

from reports import sources
from reports.models import DataSource

pytestmark = pytest.mark.django_db
GOOD = "postgresql://reader:secret@db.example.com:5433/sales"


@pytest.mark.parametrize(
    "url", [GOOD, "postgres://reader:secret@/sales?host=db.example.com", f"{GOOD}?sslmode=require"]
)
def test_a_customers_database_is_accepted(url):
    assert sources.refusal(url) is None


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql:///scheduler", "lacks host, user, password"),
        ("postgresql://reader@db.example.com/sales", "lacks password"),
        ("postgresql://reader:secret@db.example.com", "lacks dbname"),
        ("postgresql://:secret@db.example.com/sales", "lacks user"),
        (f"{GOOD}?service=other", "must not contain service"),
        (f"{GOOD}?passfile=/etc/passwd", "must not contain passfile"),
        (f"{GOOD}?options=-csearch_path%3Dx", "must not contain options"),
        ("mysql://reader:secret@db.example.com/sales", "not the URL"),
        ("postgresql://[", "not the URL"),
        ("", "not the URL"),
    ],
)
def test_parts_of_an_address_that_the_worker_would_fill_in_are_refused(url, words):
    assert words in sources.refusal(url)


def test_the_schedulers_own_database_is_refused_by_whatever_name():
    ours = connection.get_connection_params()
    name, port = ours["dbname"], ours.get("port") or 5432
    for host in ("localhost", "127.0.0.1", "[::1]", "%2Frun%2Fpostgresql"):
        assert "own database" in sources.refusal(f"postgresql://a:b@{host}:{port}/{name}"), host
    assert sources.refusal(f"postgresql://a:b@localhost:{port}/{name}_of_a_customer") is None


def test_a_staff_user_who_may_add_sources_cannot_add_such_a_one(tenant, stranger, admin_client):
    form = {"tenant": tenant.pk, "name": "Ours", "url": "postgresql:///scheduler"}
    page = admin_client.post("/admin/reports/datasource/add/", form)
    assert "lacks host, user, password" in page.content.decode()
    assert not DataSource.objects.exists()
    assert admin_client.post("/admin/reports/datasource/add/", form | {"url": GOOD}).status_code == 302
    assert DataSource.objects.get().tenant == tenant
    with pytest.raises(ValidationError):
        DataSource(tenant=tenant, name="Ours", url="postgresql:///scheduler").full_clean()

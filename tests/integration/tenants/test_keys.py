"""API keys: who may come in, and what an attacker who reads the database has."""

import logging
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from tenants import auth
from tenants.models import ApiKey
from tests.factories import TenantFactory, UserFactory, operator_key

pytestmark = pytest.mark.django_db


def test_the_token_of_an_issued_key_names_its_tenant():
    owner, stranger = TenantFactory(), TenantFactory()
    _, token = auth.issue(owner, "nightly export")
    _, other = auth.issue(stranger, "nightly export")
    assert auth.tenant_of(token) == owner
    assert auth.tenant_of(other) == stranger


def test_the_database_holds_neither_token_nor_secret():
    key, token = auth.issue(TenantFactory(), "nightly export")
    secret = token.partition(".")[2]
    stored = " ".join(map(str, ApiKey.objects.values_list().get(pk=key.pk)))
    assert len(secret) == 43  # 256 bits in base64
    assert secret not in stored


@pytest.mark.parametrize(
    "spoil",
    [
        lambda token: "",
        lambda token: token[:-1],
        lambda token: token + "x",
        lambda token: token.partition(".")[0],
        lambda token: token.replace(".", ""),
        lambda token: token.swapcase(),
        lambda token: token[:13] + "A" * 43,
        lambda token: "0" * 12 + token[12:],
        lambda token: token[:12] + "\x00" + token[13:],
        lambda token: token + "\n",
        lambda token: "é" + token[1:],
    ],
)
def test_anything_but_the_token_itself_is_nobody(spoil):
    _, token = auth.issue(TenantFactory(), "nightly export")
    assert auth.tenant_of(spoil(token)) is None
    assert auth.tenant_of(token) is not None


def test_the_prefix_of_one_key_with_the_secret_of_another_is_nobody():
    tenant = TenantFactory()
    _, first = auth.issue(tenant, "first")
    _, second = auth.issue(tenant, "second")
    assert auth.tenant_of(first[:13] + second[13:]) is None


def test_a_key_is_good_until_it_expires():
    tenant, now = TenantFactory(), timezone.now()
    _, good = auth.issue(tenant, "good", expires_at=now + timedelta(minutes=1))
    _, expired = auth.issue(tenant, "expired", expires_at=now - timedelta(seconds=1))
    assert auth.tenant_of(good) == tenant
    assert auth.tenant_of(expired) is None


def test_a_revoked_key_is_nobody_and_keeps_the_time_of_its_first_revocation():
    key, token = auth.issue(TenantFactory(), "leaked")
    auth.revoke(key)
    key.refresh_from_db()
    first = key.revoked_at
    auth.revoke(key)
    key.refresh_from_db()
    assert auth.tenant_of(token) is None
    assert key.revoked_at == first


def test_the_last_use_is_noted_once_a_minute_whatever_the_clock_here(django_assert_num_queries, monkeypatch):
    operator = UserFactory(is_staff=True, is_superuser=True)
    of_tenant, of_operator = auth.issue(TenantFactory(), "busy"), operator_key(operator, "busy")
    a_while_ago = timezone.now() - timedelta(seconds=61)
    for late in (0, 3600):
        monkeypatch.setattr(timezone, "now", lambda late=late: datetime.now(UTC) - timedelta(seconds=late))
        for look_up, (key, token) in ((auth.tenant_of, of_tenant), (auth.operator_of, of_operator)):
            type(key).objects.filter(pk=key.pk).update(last_used_at=a_while_ago if late else None)
            with django_assert_num_queries(2):  # look up, note
                look_up(token)
            with django_assert_num_queries(1):
                look_up(token)
            key.refresh_from_db()
            assert key.last_used_at > a_while_ago


def test_a_refused_token_leaves_no_last_use():
    key, token = auth.issue(TenantFactory(), "idle")
    auth.tenant_of(token[:-1] + ("A" if token[-1] != "A" else "B"))
    key.refresh_from_db()
    assert key.last_used_at is None


def test_no_token_is_logged(caplog):
    caplog.set_level(logging.DEBUG)
    _, token = auth.issue(TenantFactory(), "quiet")
    auth.tenant_of(token)
    auth.tenant_of(token[:-1])
    logged = "\n".join(f"{record.getMessage()} {record.args}" for record in caplog.records)
    assert token.partition(".")[2][:-1] not in logged

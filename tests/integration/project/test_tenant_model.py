"""A tenant model must be made before the tables that point to it: its project hears that before the first migrate."""

import pytest
from django.core.checks import run_checks
from django.db.migrations.recorder import MigrationRecorder

from tenants import checks

pytestmark = pytest.mark.django_db


def found() -> list[tuple[str, str]]:
    every = run_checks(tags=["database"], databases=["default"])
    return [(one.msg, one.hint) for one in every if one.id == "tenants.E004"]


@pytest.fixture
def before_the_first_migrate() -> None:
    MigrationRecorder.Migration.objects.filter(app__in=["jobs", "tenants", "sample"]).delete()


@pytest.mark.usefixtures("before_the_first_migrate")
class TestBeforeTheFirstMigrate:
    def test_a_model_that_a_later_migration_makes_is_refused_with_the_remedy(self, monkeypatch) -> None:
        monkeypatch.setattr(checks, "TENANT_MODEL", "sample.Picture")
        [(message, hint)] = found()
        assert message.startswith("sample.0002_picture_exhibit_fresco makes the tenant model")
        assert "run_before = [('tenants', '0001_initial')]" in hint

    def test_a_model_without_a_migration_is_refused_with_the_remedy(self, monkeypatch) -> None:
        monkeypatch.setattr(checks, "TENANT_MODEL", "sample.Shop")
        [(message, hint)] = found()
        assert message.startswith("No migration makes")
        assert "makemigrations sample" in hint

    @pytest.mark.parametrize("model", ["tenants.Tenant", "auth.User"])
    def test_a_model_that_is_there_by_then_is_right(self, monkeypatch, model) -> None:
        monkeypatch.setattr(checks, "TENANT_MODEL", model)
        assert found() == []

    def test_a_model_whose_migration_somebody_ran_first_is_right(self, monkeypatch) -> None:
        monkeypatch.setattr(checks, "TENANT_MODEL", "sample.Picture")
        for name in ("0001_initial", "0002_picture_exhibit_fresco"):
            MigrationRecorder.Migration.objects.create(app="sample", name=name)
        assert found() == []

    def test_a_model_whose_app_has_no_migrations_is_left_to_django(self, monkeypatch, settings) -> None:
        """`migrate --run-syncdb` makes it before all migrations."""
        settings.MIGRATION_MODULES = {"sample": None}
        monkeypatch.setattr(checks, "TENANT_MODEL", "sample.Picture")
        assert found() == []


def test_after_it_nobody_asks(monkeypatch) -> None:
    monkeypatch.setattr(checks, "TENANT_MODEL", "sample.Picture")
    assert found() == []

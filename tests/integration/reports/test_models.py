"""A report runs plainly and as a job; it and its data source belong to one tenant."""

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError

from jobs.contrib.testing import drain, run, submitted
from jobs.models import Job
from reports.models import DataReport, DataSource
from reports.parameters import InvalidParameters
from reports.query import ReportFailed
from tests.factories import TenantFactory, database_url

pytestmark = pytest.mark.django_db(transaction=True)

PLACES = [{"name": "least", "default": 2}]


@pytest.fixture
def source(tenant) -> DataSource:
    """The test database itself: these reports read no table."""
    return DataSource.objects.create(tenant=tenant, name="Numbers", url=database_url())


@pytest.fixture
def report(tenant, source) -> DataReport:
    sql = "SELECT n, n * n AS square FROM generate_series(1, 4) AS n WHERE n >= %(least)s"
    content = {"name": "Squares", "question": "How large?", "sql": sql, "parameters": PLACES}
    return DataReport.objects.create(tenant=tenant, source=source, **content)


def test_a_plain_call_returns_columns_and_rows(report):
    assert report.execute(parameters={"least": 3}) == {"columns": ["n", "square"], "rows": [[3, 9], [4, 16]]}
    assert len(report.execute()["rows"]) == 3


def test_as_a_job_it_keeps_the_result_counts_records_and_shows_progress(report):
    assert run(report.async_.execute, parameters={"least": 4}) == {"columns": ["n", "square"], "rows": [[4, 16]]}
    (job,) = submitted(report.async_.execute)
    assert (job.status, job.stats, job.progress, job.progress_note) == ("success", {"records": 1}, 1.0, "1 rows")


def test_an_unfit_parameter_ends_the_job_with_its_name(report):
    report.async_.execute(parameters={"region": "EU"})
    with pytest.raises(InvalidParameters, match="region is not a parameter of this report"):
        drain()
    assert [job.status for job in submitted(report.async_.execute)] == ["error"]


def test_the_time_limit_of_the_job_is_that_of_the_query(report):
    report.sql = "SELECT pg_sleep(60), %(least)s"
    report.save()
    with pytest.raises(ReportFailed, match="statement timeout"):
        run(report.async_(timeout=0.3).execute)


def test_refresh_all_submits_every_report_of_its_tenant_and_no_other(report, source, tenant):
    DataReport.objects.create(tenant=tenant, source=source, name="One", question="?", sql="SELECT 1")
    stranger = TenantFactory()
    foreign = DataSource.objects.create(tenant=stranger, name="Theirs", url=source.url)
    DataReport.objects.create(tenant=stranger, source=foreign, name="Other", question="?", sql="SELECT 1")
    made = run(DataReport.async_(tenant=tenant).refresh_all)["jobs"]
    assert len(made) == 2
    assert set(Job.objects.filter(pk__in=made).values_list("tenant_id", flat=True)) == {tenant.pk}


def test_the_database_refuses_a_report_on_another_tenants_source(report):
    stranger = TenantFactory()
    theirs = DataSource.objects.create(tenant=stranger, name="Theirs", url="postgresql://x@/y")
    with pytest.raises(IntegrityError, match="data_reports_source_of_same_tenant"):
        DataReport.objects.filter(pk=report.pk).update(source=theirs)
    report.source = theirs
    with pytest.raises(ValidationError, match="belong to the same tenant"):
        report.full_clean()


def test_a_tenant_goes_with_its_sources_and_reports(report, tenant):
    tenant.delete()
    assert not DataSource.objects.exists()
    assert not DataReport.objects.exists()


def test_a_name_is_taken_once_per_tenant(report):
    report.pk = None
    with pytest.raises(IntegrityError, match="data_reports_name_once_per_tenant"):
        report.save()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"sql": "SELECT %(region)s"}, "parameters"),
        ({"sql": "SELECT 1"}, "parameters"),
        ({"sql": "SELECT 5 % 2, %(least)s"}, "sql"),
        ({"parameters": [{"name": "least", "default": []}]}, "parameters"),
        ({"parameters": {"least": 2}}, "parameters"),
        ({"row_limit": 0}, "row_limit"),
    ],
)
def test_a_report_that_could_never_run_is_refused_when_it_is_edited(report, changes, field):
    for name, value in changes.items():
        setattr(report, name, value)
    with pytest.raises(ValidationError) as caught:
        report.full_clean()
    assert field in caught.value.message_dict


def test_a_stored_report_that_does_not_fit_its_parameters_fails_clearly(report):
    with pytest.raises(InvalidParameters, match="least must be a number"):
        report.execute(parameters={"least": "two"})

"""What a tenant reads of an error: a class always, a text only where somebody meant it for the tenant."""

import json

import pytest

from jobs import Abandon, TenantError
from jobs.engine.attempt.failures import as_failure
from jobs.lifecycle import Status
from jobs.reading.public_error import public_text
from reports.parameters import InvalidParameters
from reports.query import ReportFailed
from tests.factories import make_job

pytestmark = pytest.mark.django_db
SECRET = "Key (email)=(eve@example.com) on db-7.internal"


class NoSuchRegionError(TenantError):
    """As an app derives it."""


class OfTheNetwork(Exception):
    """Not meant for anybody."""


def last_error(error):
    failure = as_failure(error)
    return f"{failure.error_class}: {failure.error}"


@pytest.mark.parametrize("error", [ValueError(SECRET), OfTheNetwork(SECRET), TimeoutError(SECRET), KeyError(SECRET)])
def test_a_text_that_nobody_meant_for_the_tenant_is_hidden_everywhere(owner, mate, tenant, error, report):
    job = make_job(
        tenant, Status.ERROR, last_error=last_error(error), source_type="reports.datareport", source_id=str(report.pk)
    )
    answers = [
        owner.get(f"/api/v1/jobs/{job.pk}"),
        owner.get(f"/api/v1/jobs/{job.pk}/result"),
        owner.get("/api/v1/jobs"),
        mate.get(f"/reports/{report.pk}/?job={job.pk}"),
        mate.get("/"),
        owner.post(f"/api/v1/jobs/{job.pk}/revive"),
    ]
    for answer in answers:
        assert b"eve@example" not in answer.content
    assert answers[0].json()["last_error"] == type(error).__name__


@pytest.mark.parametrize(
    "error",
    [
        TenantError("There is no such region."),
        NoSuchRegionError("There is no such region."),
        Abandon("the account is closed"),
        ReportFailed("The database stopped the query."),
        InvalidParameters("state is required"),
    ],
)
def test_a_text_for_the_tenant_is_read_by_the_tenant_and_by_nobody_else(owner, stranger, tenant, error):
    job = make_job(tenant, Status.DEAD, last_error=last_error(error))
    assert owner.get(f"/api/v1/jobs/{job.pk}").json()["last_error"] == last_error(error)
    assert str(error) in owner.get(f"/api/v1/jobs/{job.pk}/result").json()["detail"]
    assert stranger.get(f"/api/v1/jobs/{job.pk}").status_code == 404


@pytest.mark.parametrize(
    "text",
    [
        "TimeoutError: timed out after 2.5 s",
        "TimeoutError: timed out after 300 s and was killed",
        "ProcessDied: signal 9 (3)",
        "WorkerGone: worker default@host is gone",
        "NeighbourEnded: its process was ended because of another job in it",
        "SharedDeath: its process was ended by SIGKILL, with other jobs in it",
        "",
    ],
)
def test_the_schedulers_own_errors_are_shown(text):
    assert public_text(text) == text


def test_parameters_of_another_kind_are_refused_in_words_for_the_tenant(report):
    with pytest.raises(InvalidParameters, match="must be an object"):
        report.execute(parameters=[1, 2])


def test_a_list_leaves_out_what_may_be_long_or_costs_a_look(owner, stranger, tenant):
    made = make_job(tenant, Status.SUCCESS, args={"text": "x" * 200_000}, stats={"rows": 7})
    page = owner.get("/api/v1/jobs")
    [listed] = page.json()["jobs"]
    assert len(page.content) < 2_000
    whole = owner.get(f"/api/v1/jobs/{made.pk}").json()
    assert {name for name in whole if name not in listed} == {"args", "stats", "rows", "starts"}
    assert json.dumps({name: whole[name] for name in listed}) == json.dumps(listed)
    assert stranger.get("/api/v1/jobs").json()["jobs"] == []

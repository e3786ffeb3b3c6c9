"""The verdict finds each fault that it is there to find, and none where none is."""

import pytest

from jobs.lifecycle import Status
from jobs.models import Job
from tests.chaos.verdict import judge
from tests.factories import TenantFactory, make_job

pytestmark = pytest.mark.django_db


@pytest.fixture
def job() -> Job:
    """A success, in its second attempt."""
    return make_job(TenantFactory(), Status.SUCCESS, attempt=2, stats={"attempt": 2})


@pytest.fixture
def evidence(job, tmp_path):
    """What its bodies wrote."""
    path = tmp_path / "evidence"
    path.write_text(f"{job.pk} 1 100\n{job.pk} 2 101\n")
    return path


def test_a_run_without_faults_has_none(job, evidence):
    assert judge(evidence, {job.pk}, []) == []


def test_a_body_that_started_twice_is_found(job, evidence):
    evidence.write_text(evidence.read_text() + f"{job.pk} 2 102\n")
    assert judge(evidence, {job.pk}, []) == [f"job {job.pk}: the body of attempt 2 started 2 times"]


def test_a_body_of_an_attempt_that_was_undone_is_found(job, evidence):
    evidence.write_text(evidence.read_text() + f"{job.pk} 3 102\n")
    assert judge(evidence, {job.pk}, []) == [f"job {job.pk} is at attempt 2, but the body of attempt 3 started"]


def test_a_success_without_its_body_is_found(job, evidence):
    evidence.write_text(f"{job.pk} 1 100\n")
    assert judge(evidence, {job.pk}, []) == [f"job {job.pk} succeeded in attempt 2, whose body never started"]


def test_what_a_stale_holder_wrote_is_found(job, evidence):
    Job.objects.filter(pk=job.pk).update(stats={"attempt": 1})
    assert judge(evidence, {job.pk}, []) == [f"job {job.pk}, attempt 2: stats of attempt 1"]


def test_a_lost_job_and_one_that_never_ends_are_found(job, evidence):
    stuck = make_job(job.tenant, Status.RUNNING)
    found = judge(evidence, {job.pk, 10**9}, [])
    assert found == [
        f"job {10**9} was accepted, and is not there",
        f"job {stuck.pk} is still running, attempt 1, slot 2",
    ]


def test_an_exceeded_limit_is_found(job, evidence):
    assert judge(evidence, {job.pk}, [("tenant 1", 3, 2)]) == ["limit exceeded: tenant 1 held 3, may 2"]

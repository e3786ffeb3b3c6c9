"""Patched jobs: no test is green because the real body ran in the place of a mock."""

from unittest import mock

import pytest

from jobs import async_, job
from jobs.contrib.testing import drain, fail_next
from jobs.models import Job
from tests.factories import QueueFactory, TenantFactory, ThingFactory
from tests.sample import tasks
from tests.sample.models import Run, Thing

pytestmark = pytest.mark.django_db
PATCHED = "is patched in this test: patch what it calls, or use fail_next"


def stub(*, times: int = 1) -> None:
    """A function of the test in the place of a job."""


@pytest.mark.parametrize(
    "how", [{}, {"wraps": tasks.ring}, {"autospec": True}, {"new": stub}], ids=lambda how: "".join(how) or "plain"
)
def test_a_drain_runs_no_patched_function(how):
    QueueFactory(name="critical")
    async_(tasks.ring, tenant=TenantFactory())()
    with mock.patch.object(tasks, "ring", **how), pytest.raises(AssertionError, match=f"tasks.ring {PATCHED}"):
        drain(raising=False)
    assert not Run.objects.exists()
    assert Job.objects.get().status == "running"


@pytest.mark.parametrize("name", ["echo", "everything"])
@pytest.mark.parametrize("how", [{}, {"autospec": True}, {"new": stub}], ids=" ".join)
def test_a_drain_says_that_a_method_is_patched(name, how):
    thing = ThingFactory()
    getattr(Thing.async_(tenant=thing.tenant) if name == "everything" else thing.async_, name)()
    with mock.patch.object(Thing, name, **how), pytest.raises(AssertionError, match=f"sample.thing.{name} {PATCHED}"):
        drain(raising=False)


def test_a_submit_of_a_mock_is_an_error_in_words():
    with (
        mock.patch.object(tasks, "ring"),
        pytest.raises(TypeError, match=r"async_ takes a @job .* not <Magic"),
    ):
        async_(tasks.ring)
    with mock.patch.object(Thing, "echo"), pytest.raises(AttributeError, match="a test patches what a job calls"):
        _ = ThingFactory().async_.echo


def test_a_marked_or_planned_double_runs():
    @job
    def nothing(self, value=None):
        return "nothing"

    thing = ThingFactory()
    thing.async_.echo()
    with mock.patch.object(Thing, "echo", nothing):
        assert [made.value for made in drain()] == ["nothing"]
    thing.async_.echo()
    with fail_next(thing.async_.echo, ConnectionError()), mock.patch.object(Thing, "echo"):
        assert [made.status for made in drain(raising=False)] == ["error"]

"""The helpers in Django's own test classes."""

from datetime import UTC, datetime, timedelta
from unittest import mock

import pytest
from django.test import TestCase, TransactionTestCase
from django.utils import timezone

from jobs.contrib.testing import JobAssertions
from jobs.engine.door import dispatch
from jobs.models import Door, Job
from tests.factories import ThingFactory
from tests.sql import sql

NEW_YEAR = datetime(2031, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="class", autouse=True)
def jobs_follow_time() -> None:
    """Without the plugin, as under `manage.py test`: the classes follow by themselves."""


class InATransaction(JobAssertions, TestCase):
    @classmethod
    def setUpTestData(cls) -> None:
        cls.thing = ThingFactory()
        cls.thing.async_.echo("of the class")

    def test_one(self) -> None:
        self.thing.async_.echo(1)
        assert len(self.drain_jobs()) == 2

    def test_another_sees_nothing_of_it(self) -> None:
        self.assertSubmitted(self.thing.async_.echo, value="of the class")
        self.assertNotSubmitted(self.thing.async_.echo, value=1)
        with self.fail_next(self.thing.async_.echo, ValueError()):
            assert [attempt.failed for attempt in self.drain_jobs(raising=False)] == [True]
        assert self.run_job(self.thing.async_.echo, "ü", times=2) == ["ü", "ü"]

    def test_callbacks_on_commit_may_be_executed(self) -> None:
        with self.assertNoLogs(level="WARNING"), self.captureOnCommitCallbacks(execute=True):
            self.thing.async_.echo(2)
        assert len(self.drain_jobs()) == 2

    def test_the_session_is_as_before(self) -> None:
        self.drain_jobs()
        assert sql("SELECT current_setting('enable_seqscan'), current_setting('jobs.door')")[0] == ("on", "left")


class AtAnotherTime(JobAssertions, TestCase):
    """Frozen by whatever is patched around the class's own setting up, as freezegun's decorator does."""

    @classmethod
    def setUpTestData(cls) -> None:
        with mock.patch.object(timezone, "now", lambda: NEW_YEAR):
            cls.thing = ThingFactory()
            cls.thing.async_(delay=60).echo()

    def test_a_job_of_the_class_is_due_after_its_delay(self) -> None:
        assert Job.objects.get().created_at == NEW_YEAR
        assert self.drain_jobs() == []
        with mock.patch.object(timezone, "now", lambda: NEW_YEAR + timedelta(seconds=60)):
            assert len(self.drain_jobs()) == 1


class WithCommits(JobAssertions, TransactionTestCase):
    def test_jobs_run_after_the_commit(self) -> None:
        thing = ThingFactory()
        with self.freeze_time() as time:
            thing.async_(delay=60).echo()
            time.move(60)
            assert len(self.drain_jobs()) == 1
        assert [job.status for job in self.submitted_jobs()] == ["success"]
        assert Door.objects.exists()
        dispatch.dispatch()
        assert Job.objects.get().status == "success"

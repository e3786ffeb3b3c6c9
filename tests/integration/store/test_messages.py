"""Messages through PostgreSQL: all sessions hear one, one takes it, and only for an attempt that has not started."""

import pytest

from jobs.models import Job
from jobs.store import messages
from jobs.store.messages import Messages
from tests.factories import TenantFactory, make_job
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def two():
    both = [Messages(), Messages()]
    yield both
    for one in both:
        one.close()


def queued() -> tuple[int, int]:
    job = make_job(TenantFactory(queue__num_slots=1), "queued")
    return job.pk, job.attempt


def test_all_hear_a_message_whatever_else_their_session_does(two) -> None:
    for one in two:
        one.hear()
    two[0].send("default 7-2")
    two[1].take("x", 1, 1)  # by whose answer it may have come
    for one in two:
        texts = []
        wait_until(lambda one=one, texts=texts: texts.extend(one.heard()) or texts, "it is heard")
        assert texts == ["default 7-2"]


def test_one_takes_it_until_its_session_ends(two) -> None:
    job = queued()
    assert two[0].take("default 7-2", *job)
    assert not two[1].take("default 7-2", *job)
    two[0].close()
    wait_until(lambda: two[1].take("default 7-2", *job), "the other may have it")


def test_only_for_an_attempt_that_has_not_started(two) -> None:
    job_id, attempt = queued()
    assert not two[0].take("a", job_id, attempt + 1)
    Job.objects.filter(pk=job_id).delete()
    assert not two[0].take("b", job_id, attempt)
    started = make_job(TenantFactory(queue__num_slots=1), "running")
    assert not two[0].take("c", started.pk, started.attempt)


def test_the_locks_of_old_messages_are_given_up(two, monkeypatch) -> None:
    monkeypatch.setattr(messages, "MAX_TAKEN", 1)
    job = queued()
    assert two[0].take("first", *job)
    assert two[0].take("second", *job)
    assert two[1].take("first", *job)
    assert not two[1].take("second", *job)

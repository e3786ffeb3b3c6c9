"""Assertions about submitted jobs: what they find, and what they tell when they find nothing."""

from datetime import UTC, date, datetime, timedelta
from unittest import mock

import pytest

from jobs import async_, job
from jobs.contrib.testing import assert_not_submitted, assert_submitted, drain, fail_next, run, submitted
from tests.factories import QueueFactory, TenantFactory, ThingFactory
from tests.sample.gathered import index
from tests.sample.models import Thing

pytestmark = pytest.mark.django_db


@pytest.fixture
def thing() -> Thing:
    QueueFactory(name="critical")
    return ThingFactory(tenant=TenantFactory(slug="acme"))


class TestSubmitted:
    def test_submitted_jobs_come_in_their_order_before_and_after_their_run(self, thing):
        first, second = thing.async_.echo(1), thing.async_(delay=60).echo(2)
        drain()
        assert [(job.pk, job.status) for job in submitted()] == [(first, "success"), (second, "scheduled")]

    def test_a_call_on_an_object_stands_for_that_object(self, thing):
        other = ThingFactory()
        other.async_.echo()
        assert submitted(thing.async_.echo) == []
        assert len(submitted(other.async_.echo)) == 1

    def test_a_call_on_the_class_stands_for_every_object(self, thing):
        thing.async_.echo()
        ThingFactory().async_.echo()
        assert len(submitted(Thing.async_.echo)) == 2

    def test_a_job_that_has_gathered_the_calls_of_others_has_a_call_too(self, thing):
        call = async_(index, tenant=thing.tenant)
        call(calls=[1])
        call(calls=[{"page": 2}, 3])
        assert len(submitted(call, calls=[{"page": mock.ANY}, 1])) == 1
        assert_not_submitted(call, calls=[4])
        assert_not_submitted(call, calls=3)

    def test_a_job_of_the_class_belongs_to_its_tenant(self, thing):
        Thing.async_(tenant=thing.tenant).everything(region="EU")
        assert submitted(Thing.async_(tenant=thing.tenant).everything, region="EU")
        assert not submitted(Thing.async_(tenant=TenantFactory()).everything)

    @pytest.mark.parametrize(
        ("args", "found"),
        [
            ({}, True),
            ({"value": [1, "ü"]}, True),
            ({"value": (1, "ü")}, True),
            ({"times": 2}, True),
            ({"value": mock.ANY, "times": pytest.approx(2.0)}, True),
            ({"value": [1, mock.ANY]}, True),
            ({"value": [mock.ANY]}, False),
            ({"colour": mock.ANY}, False),
            ({"times": 1}, False),
            ({"colour": "red"}, False),
        ],
    )
    def test_the_arguments_that_are_given_count(self, thing, args, found):
        thing.async_.echo([1, "ü"], times=2)
        assert bool(submitted(thing.async_.echo, **args)) is found

    def test_an_argument_that_was_left_out_has_its_default(self, thing):
        thing.async_.echo()
        assert submitted(thing.async_.echo, value=None, times=1)

    def test_a_default_that_is_not_json_hides_no_job(self, thing, monkeypatch):
        def echo(self, value, day=date(2026, 1, 1)): ...

        monkeypatch.setattr(Thing, "echo", job(echo))
        thing.async_.echo(1)
        assert_submitted(thing.async_.echo, value=1)

    @pytest.mark.parametrize(
        ("option", "other"),
        [
            ({"queue": "critical"}, {"queue": "default"}),
            ({"priority": 0}, {"priority": 1}),
            ({"user": "ines"}, {"user": "carl"}),
            ({"timeout": 7.0}, {"timeout": 8.0}),
            ({"max_retries": 2}, {"max_retries": 3}),
            ({"delay": 60}, {"delay": 61}),
            ({"delay": timedelta(minutes=1)}, {"delay": timedelta(hours=1)}),
            ({"sequence": "acct-7"}, {"sequence": "acct-8"}),
            ({"sequence": 7}, {"sequence": 8}),
        ],
    )
    def test_the_options_that_are_given_count(self, thing, option, other):
        thing.async_(**option).echo()
        assert submitted(thing.async_(**option).echo)
        assert not submitted(thing.async_(**other).echo)

    def test_a_moment_counts(self, thing):
        at = datetime.now(UTC) + timedelta(days=1)
        thing.async_(at=at).echo()
        assert submitted(thing.async_(at=at).echo)
        assert not submitted(thing.async_(at=at + timedelta(seconds=1)).echo)


class TestMessages:
    def test_nothing_at_all(self, thing):
        with pytest.raises(AssertionError) as caught:
            assert_submitted(thing.async_(priority=0).echo, value="ü")
        assert str(caught.value) == (
            f'No job sample.thing:{thing.pk} echo {{"value": "ü"}}, priority 0 was submitted.'
            " No job was submitted at all."
        )
        for no_call in (thing.echo, 4):  # without `async_`; the id of what was submitted
            for tool in (run, assert_submitted, lambda wrong: fail_next(wrong, OSError()).__enter__()):
                with pytest.raises(TypeError, match=r"name the call as report\.async_\.execute"):
                    tool(no_call)

    def test_the_message_shows_the_submitted_jobs_and_their_differences(self, thing):
        near, far = thing.async_.echo(1), thing.async_.again()
        with pytest.raises(AssertionError) as caught:
            assert_submitted(thing.async_(queue="critical").echo, value=2)
        assert str(caught.value).splitlines()[1:] == [
            f'  {near}  sample.thing:{thing.pk} echo {{"value": 1}}, created, queue default, priority 5, tenant acme'
            "  (differs in value, queue)",
            f"  {far}  sample.thing:{thing.pk} again {{}}, created, queue default, priority 5, tenant acme",
        ]

    def test_a_long_list_is_cut(self, thing):
        thing.async_.echo.many([{"value": n} for n in range(25)])
        with pytest.raises(AssertionError, match="and 5 more"):
            assert_submitted(thing.async_.urgent)

    def test_a_job_that_should_not_have_been_submitted_is_shown(self, thing):
        assert_not_submitted()
        thing.async_.echo(1)
        assert_not_submitted(thing.async_.echo, value=2)
        with pytest.raises(AssertionError, match=r'should have been submitted. Submitted:\n.* echo {"value": 1}'):
            assert_not_submitted(thing.async_.echo)
        with pytest.raises(AssertionError, match=r"^No job should have been submitted"):
            assert_not_submitted()

    def test_found_jobs_are_returned(self, thing):
        (job,) = assert_submitted(thing.async_.echo) if thing.async_.echo(1) else ()
        assert job.args == {"value": 1}

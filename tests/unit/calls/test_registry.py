"""What may run as a job, and which arguments fit it."""

from datetime import timedelta
from functools import partial
from unittest.mock import Mock

import pytest
from django.apps import apps
from django.db import models
from django.test.utils import isolate_apps
from django.utils.functional import SimpleLazyObject

from jobs import Retry, job
from jobs.calls.arguments import MAX_DEPTH
from jobs.calls.refusals import InvalidRequest
from jobs.calls.registry import methods, resolve, source_types, target, unheeded
from jobs.checks.loaded import marks_have_an_effect
from tests.sample.models import Run, Thing


def bind(method: str, *args, **kwargs):
    return target(Thing, method).bind(args, kwargs)


class TestMarking:
    def test_a_method_that_takes_unnamed_arguments_cannot_be_a_job(self):
        with pytest.raises(TypeError, match=r"unfit: \*rows cannot be given by name"):

            @job
            def unfit(self, *rows): ...

    def test_a_method_that_takes_arguments_by_position_only_cannot_be_a_job(self):
        with pytest.raises(TypeError, match="day cannot be given by name"):

            @job(queue="reports")
            def unfit(self, day, /): ...

    def test_self_by_position_only_is_no_obstacle(self):
        @job
        def fit(self, /, day): ...

        assert fit.job_spec.queue == "default"

    def test_a_method_with_any_named_arguments_may_be_a_job(self):
        @job
        def fit(self, **options): ...

        assert fit.job_spec.dedup

    def test_a_marked_method_stays_what_it_was(self):
        def plain(self): ...

        assert job(plain) is plain
        assert job(priority=1)(plain) is plain

    def test_job_above_classmethod_is_refused_since_it_would_mark_no_function(self):
        with pytest.raises(TypeError, match=r"unfit: goes below @classmethod"):

            @job
            @classmethod
            def unfit(cls): ...

    def test_a_function_whose_call_would_only_begin_cannot_be_a_job(self):
        def yields():
            yield

        async def does_both():
            yield

        for unfit in (yields, does_both):
            with pytest.raises(TypeError, match=rf"{unfit.__name__}: .*return a list"):
                job(unfit)

    def test_a_target_knows_whether_its_body_is_a_coroutine(self, monkeypatch):
        async def waits(self): ...

        async def of_the_class(cls): ...

        monkeypatch.setattr(Thing, "echo", job(waits))
        monkeypatch.setattr(Thing, "again", classmethod(job(of_the_class)))
        assert [target(Thing, name).is_async for name in ("echo", "again", "spin")] == [True, True, False]

    def test_an_option_of_another_type_is_refused_where_it_stands(self):
        wrong: tuple[dict[str, object], ...] = (
            *({"retry": 3}, {"retry": Retry.exponential}, {"result_ttl": timedelta(hours=1)}),
            *({"dedup_key": "month"}, {"sequence": "account"}),
            *({"silence": timedelta(minutes=2)}, {"silence": 0}, {"silence": -1}, {"silence": True}),
        )
        for option in wrong:
            with pytest.raises(TypeError, match=f"^@job: {next(iter(option))} is a"):
                job(**option)

    def test_a_sequence_and_another_answer_to_identical_calls_exclude_each_other(self):
        with pytest.raises(TypeError, match=r"^@job: give either sequence, or identical"):
            job(sequence=lambda: "x", identical="replace")

    def test_a_silence_beyond_the_time_limit_is_refused_since_it_would_never_end_a_body(self):
        with pytest.raises(TypeError, match=r"^@job: silence \(600 s\) is longer than timeout \(60 s\)"):
            job(silence=600, timeout=60)
        assert job(silence=60, timeout=60)(lambda: None).job_spec.silence == 60

    def test_an_option_that_does_not_exist_is_refused(self):
        with pytest.raises(TypeError, match="prio"):
            job(prio=1)

    def test_an_object_that_is_no_function_is_refused_where_it_stands(self):
        for unfit in (type("Report", (), {}), partial(print, "x"), property(print)):
            with pytest.raises(TypeError, match="is no function; mark one that calls it"):
                job(unfit)

    def test_a_mark_without_effect_is_named_by_the_check_and_by_a_call(self, monkeypatch):
        with isolate_apps("tests.sample"):

            class Careful(Thing):
                class Meta:
                    proxy = True
                    app_label = "sample"

                def echo(self, value: object = None, *, times: int = 1): ...

                @job
                def urgent(self) -> None: ...

                @property
                @job
                def size(self) -> int: ...

                @staticmethod
                @job
                def count() -> int: ...

        said = {
            "echo": "Careful overrides a job; mark the override @job, too",
            "size": "@job does not reach through property; mark a method, or a @classmethod",
            "count": "@job does not reach through staticmethod; mark a method, or a @classmethod",
        }
        assert unheeded(Careful) == said
        assert unheeded(Thing) == {}
        for name, why in said.items():
            with pytest.raises(InvalidRequest, match=f"{name} is not a job: {why}"):
                target(Careful, name)
        monkeypatch.setattr(apps, "get_models", lambda: [Thing, Careful])
        named = [text.split()[0] for text, _, _ in marks_have_an_effect()]
        assert named == ["sample.Careful.echo", "sample.Careful.size", "sample.Careful.count"]


class TestNames:
    def test_a_source_type_is_a_model_with_a_job(self):
        assert source_types()["sample.thing"] is Thing
        assert "sample.run" not in source_types()
        assert "auth.user" not in source_types()

    def test_a_target_knows_its_method_and_what_was_said_of_it(self):
        urgent = resolve("sample.thing", "urgent")
        assert (urgent.model, urgent.method, urgent.source_type) == (Thing, "urgent", "sample.thing")
        assert (urgent.spec.queue, urgent.spec.priority, urgent.spec.timeout) == ("critical", 2, 7)
        assert not urgent.class_level

    def test_a_classmethod_is_a_job_of_the_class(self):
        assert resolve("sample.thing", "everything").class_level

    def test_an_unknown_source_type_is_refused_and_the_known_ones_are_named(self):
        with pytest.raises(InvalidRequest, match=r"^source_type: 'auth\.user' is unknown; known: .*sample\.thing"):
            resolve("auth.user", "delete")

    @pytest.mark.parametrize(
        "method",
        ["not_a_job", "delete", "save", "missing", "tenant", "tenant_id", "objects", "async_", "__init__", "_meta", ""],
    )
    def test_an_unmarked_method_cannot_be_named(self, method):
        with pytest.raises(InvalidRequest, match=r"^source_method: .*is not a job; jobs: .*echo") as refusal:
            resolve("sample.thing", method)
        assert refusal.value.field == "source_method"

    def test_a_model_without_jobs_says_that_it_has_none(self):
        with pytest.raises(InvalidRequest, match="jobs: none"):
            target(Run, "save")

    def test_an_override_that_is_not_marked_is_not_a_job_any_more(self):
        class Careful(Thing):
            class Meta:
                proxy = True
                app_label = "sample_of_a_test"

            def echo(self): ...

        assert "echo" not in methods(Careful)
        assert "refuse" in methods(Careful)

    def test_a_function_that_has_no_object_is_not_a_job_of_one(self):
        class Confused:
            @staticmethod
            @job
            def apart(day): ...

        assert methods(Confused) == []
        with pytest.raises(InvalidRequest, match="not a job"):
            target(Confused, "apart")

    def test_an_attribute_that_answers_to_any_name_is_no_job_and_a_lazy_one_stays_lazy(self):
        def load():
            raise AssertionError("it was looked into")

        class Crowded:
            anything, later = Mock(), SimpleLazyObject(load)

            @job
            def one(self): ...

        assert methods(Crowded) == ["one"]
        for name in ("anything", "later"):
            with pytest.raises(InvalidRequest, match="not a job"):
                target(Crowded, name)


class TestArguments:
    def test_arguments_by_position_and_by_name_become_the_same_call(self):
        assert bind("echo", 7) == bind("echo", value=7) == {"value": 7}

    def test_only_what_was_given_is_kept(self):
        assert bind("echo") == {}

    def test_defaults_are_filled_in_to_compare_calls(self):
        echo = target(Thing, "echo")
        assert echo.signature.complete({}) == echo.signature.complete({"times": 1}) == {"value": None, "times": 1}

    def test_the_values_are_what_json_gives_back(self):
        assert bind("echo", (1, 2)) == {"value": [1, 2]}

    @pytest.mark.parametrize(
        ("args", "kwargs", "said"),
        [
            ((), {"colour": 1}, r"do not fit echo\(value=None, \*, times=1\).*'colour'"),
            ((1, 2), {}, "too many positional"),
            ((1,), {"value": 1}, "multiple values"),
            ((), {"self": 1}, "'self'"),
        ],
    )
    def test_arguments_that_do_not_fit_are_refused_and_the_signature_shown(self, args, kwargs, said):
        with pytest.raises(InvalidRequest, match=said) as refusal:
            bind("echo", *args, **kwargs)
        assert refusal.value.field == "args"

    def test_a_missing_argument_is_refused(self):
        with pytest.raises(InvalidRequest, match="'day'"):
            bind("daily")

    def test_an_argument_that_is_not_json_is_refused_and_named(self):
        with pytest.raises(InvalidRequest, match=r"^args\.value: object is not JSON"):
            bind("echo", value=object())

    def test_arguments_of_any_name_are_kept_beside_the_others(self):
        assert target(Open, "open").bind((1,), {"b": (2,)}) == {"a": 1, "b": [2]}

    def test_a_name_that_cannot_be_stored_is_refused(self):
        with pytest.raises(InvalidRequest, match="NUL"):
            target(Open, "open").bind((), {"a": 1, "b\x00": 2})

    def test_nesting_below_an_argument_is_limited(self):
        value: object = 0
        for _ in range(MAX_DEPTH + 1):
            value = [value]
        with pytest.raises(InvalidRequest, match="levels deep"):
            bind("echo", value)


class Open(models.Model):
    """Takes arguments of any name."""

    class Meta:
        abstract = True

    @job
    def open(self, a, **rest): ...

"""Every refusal of a request names its field, as its user knows it."""

from datetime import datetime, timedelta, timezone

import pytest
from django.utils import timezone as clock

from jobs.calls.refusals import InvalidRequest
from jobs.calls.request import JobRequest
from plumbing.bounds import MAX_SECONDS


def request(**said) -> JobRequest:
    call = {"tenant_id": 1, "source_type": "tests.thing", "source_id": "1", "source_method": "run", "args": {}}
    return JobRequest(**call | said)


def tomorrow(**shift) -> datetime:
    return clock.now() + timedelta(days=1, **shift)


@pytest.mark.parametrize(
    ("field", "said", "allowed"),
    [
        ("priority", {"priority": -1}, "from 0 (first) to 10 (last), not -1"),
        ("priority", {"priority": 11}, "not 11"),
        ("priority", {"priority": 10**400}, "from 0"),
        ("priority", {"priority": True}, "not True"),
        ("priority", {"priority": 5.0}, "not 5.0"),
        ("priority", {"priority": "5"}, "not '5'"),
        ("priority", {"priority": None}, "not None"),
        ("delay", {"delay": -0.1}, "from 0"),
        ("delay", {"delay": float("nan")}, "not nan"),
        ("delay", {"delay": float("inf")}, "not inf"),
        ("delay", {"delay": MAX_SECONDS + 1}, f"to {MAX_SECONDS:.0f}"),
        ("delay", {"delay": 10**400}, f"to {MAX_SECONDS:.0f}"),
        ("delay", {"delay": True}, "not True"),
        ("delay", {"delay": "60"}, "not '60'"),
        ("delay", {"delay": 60, "at": tomorrow()}, "not both"),
        ("timeout", {"timeout": 0}, "from 0.1"),
        ("timeout", {"timeout": -5}, "not -5"),
        ("timeout", {"timeout": "5"}, "not '5'"),
        ("timeout", {"timeout": float("nan")}, "not nan"),
        ("at", {"at": datetime(2999, 1, 1)}, "time zone"),  # noqa: DTZ001 - that is the point
        ("at", {"at": "2999-01-01"}, "'2999-01-01'"),
        ("user", {"user_key": "u" * 101}, "at most 100"),
        ("source_id", {"source_id": "a" * 101}, "at most 100"),
        ("user", {"user_key": "a\x00"}, "NUL"),
        ("user", {"user_key": "\ud800"}, "surrogate"),
        ("queue", {"queue": "a\x00"}, "NUL"),
        ("queue", {"queue": "\ud800"}, "surrogate"),
        ("args", {"args": {"text": "x" * 256 * 1024}}, "256 KiB"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_value_out_of_range_is_refused_and_its_field_named(field, said, allowed):
    with pytest.raises(InvalidRequest) as refusal:
        request(**said)
    assert refusal.value.field == field
    assert allowed in refusal.value.message


@pytest.mark.parametrize(
    "said",
    [
        {"priority": 0},
        {"priority": 10},
        {"delay": 0},
        {"delay": 0.001},
        {"delay": MAX_SECONDS},
        {"timeout": 0.1},
        {"timeout": 3600},
        {"at": tomorrow()},
        {"at": datetime.now(timezone(timedelta(hours=-5))) + timedelta(hours=1)},
        {"user_key": "ü" * 100, "source_id": "ü" * 100},
        {"args": {"text": "x" * (256 * 1024 - 12)}},
    ],
    ids=lambda said: next(iter(said)),
)
def test_a_value_at_the_edge_of_its_range_is_accepted(said):
    request(**said)


def test_the_size_of_the_arguments_is_counted_in_bytes_as_json(settings):
    settings.JOBS_ARGS_MAX_BYTES = len('{"a": "1234"}')
    request(args={"a": "1234"})
    with pytest.raises(InvalidRequest, match="take 14 bytes as JSON; at most 13 bytes"):
        request(args={"a": "12345"})

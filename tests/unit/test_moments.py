"""How moments are typed by operators: an age, a time of the day, or a moment."""

from datetime import UTC, datetime, timedelta

import pytest

from jobs.calls.refusals import InvalidRequest
from jobs.console.operations.filters import moment

NOW = datetime(2031, 3, 5, 14, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("90m", "2031-03-05T13:00"),
        ("14:00", "2031-03-05T14:00"),
        ("14:30:00", "2031-03-05T14:30"),
        ("14:30:01", "2031-03-04T14:30:01"),
        ("15:00", "2031-03-04T15:00"),
        ("2031-03-05", "2031-03-05T00:00"),
        ("2031-03-05T14:00+01:00", "2031-03-05T13:00"),
    ],
)
def test_a_time_of_the_day_is_the_last_such_time_and_what_has_no_zone_is_in_utc(text, at):
    assert moment("since", text, NOW) == datetime.fromisoformat(at).replace(tzinfo=UTC)


def test_a_time_of_the_day_is_that_of_utc_wherever_one_asks():
    elsewhere = NOW.astimezone(datetime.fromisoformat("2031-01-01T00:00+14:00").tzinfo)
    assert moment("since", "14:00", elsewhere) == NOW - timedelta(minutes=30)


@pytest.mark.parametrize(
    "text", ["24:00", "14:60", "14.00", "2pm", "9:00", "yesterday", "99999d", "2031-02-30", "14:00\n"]
)
def test_another_form_is_refused_by_the_name_of_the_field_with_the_forms_that_are_read(text):
    with pytest.raises(
        InvalidRequest, match=r"^since: must be like 30m, 1h, 7d ago.*14:00.*2030-01-31T02:00"
    ) as refused:
        moment("since", text, NOW)
    assert refused.value.field == "since"

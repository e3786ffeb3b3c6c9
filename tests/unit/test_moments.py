"""How moments are typed by operators: an age, a time of the day, or a moment."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from jobs.calls.refusals import InvalidRequest
from jobs.console.operations.filters import moment

NOW = datetime(2031, 3, 5, 14, 30, tzinfo=UTC)


def test_a_time_of_the_day_is_the_last_such_time_and_what_has_no_zone_is_in_utc(subtests):
    """Wherever one asks."""
    for text, at in (
        ("90m", "2031-03-05T13:00"),
        ("14:00", "2031-03-05T14:00"),
        ("14:30:00", "2031-03-05T14:30"),
        ("14:30:01", "2031-03-04T14:30:01"),
        ("15:00", "2031-03-04T15:00"),
        ("2031-03-05", "2031-03-05T00:00"),
        ("2031-03-05T14:00+01:00", "2031-03-05T13:00"),
    ):
        for now in (NOW, NOW.astimezone(timezone(timedelta(hours=14)))):
            with subtests.test(text, now=now):
                assert moment("since", text, now) == datetime.fromisoformat(at).replace(tzinfo=UTC)


def test_another_form_is_refused_by_the_name_of_the_field_with_the_forms_that_are_read(subtests):
    forms = r"^since: must be like 30m, 1h, 7d ago.*14:00.*2030-01-31T02:00"
    for text in ("24:00", "14:60", "14.00", "2pm", "9:00", "yesterday", "99999d", "2031-02-30", "14:00\n"):
        with subtests.test(text), pytest.raises(InvalidRequest, match=forms) as refused:
            moment("since", text, NOW)
        assert refused.value.field == "since"

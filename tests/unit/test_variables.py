"""Variables of the environment that cannot be read (`scheduler_project/variables.py`)."""

import json

import pytest
from django.core.exceptions import ImproperlyConfigured

from scheduler_project.variables import Variables


@pytest.mark.parametrize(
    ("cast", "value", "form"),
    [(int, "four", "a whole number"), (float, "soon", "a number"), (json.loads, "{mail", "JSON")],
)
def test_are_named_with_their_value_and_the_form_that_is_expected(cast, value: str, form: str) -> None:
    env = Variables()
    env.ENVIRON = {"JOBS_DEDUP_WINDOW": value}
    with pytest.raises(ImproperlyConfigured, match=rf"^JOBS_DEDUP_WINDOW={value} in the environment: .* {form}\.$"):
        env("JOBS_DEDUP_WINDOW", cast=cast, default=0)

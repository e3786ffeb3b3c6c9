"""Run a command of `manage.py` as a person does."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError


def run(*words: object) -> str:
    """Its output."""
    out = StringIO()
    call_command(*map(str, words), stdout=out)
    return out.getvalue()


def refusal(*words: object) -> str:
    """Its refusal, which is one line."""
    with pytest.raises(CommandError) as refused:
        run(*words)
    assert "\n" not in str(refused.value)
    return str(refused.value)

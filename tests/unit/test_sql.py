"""Statements as they are sent: without the comments of their files."""

import pytest
from psycopg import _queries

from jobs.sql import files, statement

OF_EVERY_JOB = ("start", "succeed")


@pytest.mark.parametrize("name", files())
def test_of_the_comments_only_the_name_is_sent(name):
    first, *others = statement(name).splitlines()
    assert first == f"-- {name}"
    assert others
    assert not [line for line in others if "--" in line or line != line.strip()]
    assert statement(name).count("'") % 2 == 0, "a literal with -- in it was cut off"


@pytest.mark.parametrize("name", OF_EVERY_JOB)
def test_what_every_job_runs_is_short_enough_to_be_parsed_once(name):
    assert len(statement(name)) <= _queries.MAX_CACHED_STATEMENT_LENGTH

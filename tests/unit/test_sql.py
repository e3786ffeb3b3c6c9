"""Statements as they are sent: without the comments of their files."""

import re

import pytest
from psycopg import _queries

from jobs.sql import files, statement

OF_EVERY_JOB = ("start", "succeed")


def test_of_the_comments_only_the_name_is_sent(subtests):
    for name in files():
        with subtests.test(name):
            first, *others = statement(name).splitlines()
            assert first == f"-- {name}"
            assert others
            assert not [line for line in others if "--" in line or line != line.strip()]
            assert statement(name).count("'") % 2 == 0, "a literal with -- in it was cut off"


@pytest.mark.parametrize("name", OF_EVERY_JOB)
def test_what_every_job_runs_is_short_enough_to_be_parsed_once(name):
    assert len(statement(name)) <= _queries.MAX_CACHED_STATEMENT_LENGTH


BATCH = re.compile(r"LIMIT (?:%\(\w+\)s|[\w.]+)\s+FOR (?:NO KEY )?UPDATE[^()]*SKIP LOCKED")


def test_a_batch_of_rows_is_locked_once_whatever_the_planner_believes(subtests):
    """As a subquery of a join it could be the inner side of a loop, whose every turn would lock a further batch."""
    statements = {name: statement(name) for name in files()}
    batches = [(name, text[: batch.start()]) for name, text in statements.items() for batch in BATCH.finditer(text)]
    assert batches
    for name, before in batches:
        depth = 0
        for position in range(len(before) - 1, -1, -1):
            depth += {")": 1, "(": -1}.get(before[position], 0)
            if depth < 0:
                with subtests.test(name):
                    assert re.search(r"(MATERIALIZED|ARRAY|LATERAL) ?$", before[:position]), before[position:]
                break

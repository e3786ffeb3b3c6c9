"""Statements as they are sent: without the comments of their files."""

import re

import pytest

from jobs.sql import files, statement
from plumbing.wire import numbered


def test_the_name_is_the_only_comment_that_is_sent(subtests):
    for name in files():
        with subtests.test(name):
            first, *others = statement(name).splitlines()
            assert first == f"-- {name}"
            assert others
            assert not [line for line in others if "--" in line or line != line.strip()]
            assert statement(name).count("'") % 2 == 0, "a literal with -- in it was cut off"


def test_parameters_are_numbered_in_the_order_of_their_first_places():
    text, values = numbered("SELECT %(b)s, %(a)s, %(b)s LIKE '1%%'", {"a": 1, "b": 2, "c": 3})
    assert (text, values) == ("SELECT $1, $2, $1 LIKE '1%'", [2, 1])


def test_a_parameter_that_is_missing_is_named():
    with pytest.raises(KeyError, match="a"):
        numbered("SELECT %(a)s", {})


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

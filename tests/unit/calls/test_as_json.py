"""Arguments as JSON gives them back, and what neither JSON nor PostgreSQL can hold."""

import json
import math
from enum import IntEnum, StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.calls.arguments import MAX_DEPTH, as_json, digest
from jobs.calls.refusals import InvalidRequest

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(TEXT, inner),
    max_leaves=20,
)


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


@given(VALUES)
def test_a_json_value_comes_back_as_json_would_give_it_back(value):
    assert as_json(value) == json.loads(json.dumps(value))


def test_tuples_become_lists_at_every_level():
    assert as_json({"a": (1, (2, [3, (4,)]))}) == {"a": [1, [2, [3, [4]]]]}


def test_values_of_derived_classes_become_those_of_pythons_own():
    class Size(IntEnum):
        SMALL = 1

    class Word(StrEnum):
        YES = "yes"

    class Part(float):
        pass

    plain = as_json({Word.YES: [Word.YES, Size.SMALL, Part(0.5), True]})
    assert plain == {"yes": ["yes", 1, 0.5, True]}
    assert [type(value) for value in (*plain, *plain["yes"])] == [str, str, int, float, bool]


def test_nesting_is_allowed_up_to_the_limit():
    assert as_json(nested(MAX_DEPTH)) == nested(MAX_DEPTH)


@pytest.mark.parametrize(
    ("value", "field", "said"),
    [
        (math.nan, "args", "nan is not JSON"),
        (math.inf, "args", "inf is not JSON"),
        ({"rate": [0.5, -math.inf]}, "args.rate[1]", "-inf is not JSON"),
        ("a\x00b", "args", "NUL"),
        ("\ud800", "args", "surrogate"),
        ("é\udfff", "args", "surrogate"),
        ({"name": {"first": "\x00"}}, "args.name.first", "NUL"),
        ({"a\x00": 1}, "args", "NUL"),
        ({1: "one"}, "args", "the key 1; keys must be text"),
        ({"map": {None: 1}}, "args.map", "the key None"),
        ({"days": [{1, 2}]}, "args.days[0]", "set is not JSON"),
        (b"bytes", "args", "bytes is not JSON"),
        (object(), "args", "object is not JSON"),
        (nested(MAX_DEPTH + 1), "args", f"more than {MAX_DEPTH} levels"),
    ],
    ids=lambda value: repr(value).partition(" at 0x")[0][:40],  # the same in every process
)
def test_a_value_that_is_not_json_is_refused_and_its_place_named(value, field, said):
    with pytest.raises(InvalidRequest) as refusal:
        as_json(value)
    assert refusal.value.field == field
    assert said in refusal.value.message
    assert str(refusal.value) == f"{field}: {refusal.value.message}"


def test_a_value_that_contains_itself_is_refused():
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(InvalidRequest, match="levels deep"):
        as_json(loop)


def test_a_number_too_long_to_be_written_is_refused_and_a_very_long_name_is_not_written_for_each_value_within():
    with pytest.raises(InvalidRequest, match=r"args\.n: .*digits"):
        as_json({"n": 10**5000})
    with pytest.raises(InvalidRequest) as refused:
        as_json({"k" * 1_000_000: [[], [10**5000]]})
    assert len(refused.value.field) < 300


@given(st.dictionaries(TEXT, LEAVES, min_size=2))
def test_a_digest_does_not_depend_on_the_order_of_keys(call):
    assert digest("report", call) == digest("report", dict(reversed(call.items())))


@given(st.lists(LEAVES, max_size=4), st.lists(LEAVES, max_size=4))
def test_different_parts_have_different_digests(one, other):
    assert (digest(*one) == digest(*other)) == (json.dumps(one) == json.dumps(other))


def test_a_boundary_that_moves_between_two_parts_changes_the_digest():
    assert len({digest("ab", "c"), digest("a", "bc"), digest("abc"), digest(["ab", "c"])}) == 4

"""Parameters of a report: what may be declared, what a run may say, and which words it is refused with."""

import pytest

from reports.parameters import InvalidParameters, Parameter, bind, declared, placed

DECLARED = [
    {"name": "state", "default": "CA", "choices": ["CA", "TX"], "label": "In the state"},
    {"name": "rows", "default": 10},
    {"name": "since", "default": "2012-01-01"},
    {"name": "closed", "default": False},
    {"name": "airport"},
]


def test_a_missing_parameter_takes_its_default():
    bound = bind(DECLARED, {"airport": "SEA", "rows": 3})
    assert bound == {"state": "CA", "rows": 3, "since": "2012-01-01", "closed": False, "airport": "SEA"}


def test_a_report_without_parameters_needs_none():
    assert bind([], None) == {}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "airport is required"),
        ({"airport": None}, "airport is required"),
        ({"airport": 7}, "airport must be a text"),
        ({"airport": "SEA", "state": "WA"}, "state must be one of CA, TX"),
        ({"airport": "SEA", "rows": "10"}, "rows must be a number"),
        ({"airport": "SEA", "rows": True}, "rows must be a number"),
        ({"airport": "SEA", "since": "yesterday"}, "since must be a date like 2024-12-31"),
        ({"airport": "SEA", "closed": 1}, "closed must be true or false"),
        ({"airport": "SEA", "region": "EU"}, "region is not a parameter of this report"),
    ],
)
def test_a_run_that_does_not_fit_is_told_which_parameter(values, message):
    with pytest.raises(InvalidParameters) as caught:
        bind(DECLARED, values)
    assert str(caught.value) == message


def test_every_problem_is_named_at_once():
    with pytest.raises(InvalidParameters) as caught:
        bind(DECLARED, {"region": "EU", "colour": "red", "rows": "many"})
    for name in ("region", "colour", "rows", "airport"):
        assert name in str(caught.value)


def test_a_choice_of_numbers_takes_equal_numbers_and_no_booleans():
    declarations = [{"name": "mm", "default": 0.0, "choices": [0.0, 1.0]}]
    assert bind(declarations, {"mm": 1}) == {"mm": 1}
    with pytest.raises(InvalidParameters):
        bind(declarations, {"mm": True})


@pytest.mark.parametrize(
    ("default", "kind"), [("CA", "text"), (1, "number"), (True, "checkbox"), ("2012-01-31", "date"), (None, "text")]
)
def test_the_default_says_what_a_parameter_takes(default, kind):
    assert declared([{"name": "it", "default": default}])[0].kind == kind


@pytest.mark.parametrize(
    "declarations",
    [
        {"state": "CA"},
        ["state"],
        [{"name": "two words"}],
        [{"default": 1}],
        [{"name": "state", "defualt": "CA"}],
        [{"name": "state", "choices": "CA"}],
        [{"name": "state", "choices": [["CA"]]}],
        [{"name": "state", "default": {"a": 1}}],
        [{"name": "state", "default": "WA", "choices": ["CA"]}],
        [{"name": "state"}, {"name": "state"}],
    ],
)
def test_malformed_declarations_are_refused(declarations):
    with pytest.raises(InvalidParameters):
        declared(declarations)


def test_placeholders_are_found_beside_casts_strings_and_literal_percents():
    sql = "SELECT %(a)s::text, ':not_one', 5 %% 2 WHERE name LIKE '%%x' AND b = %(b)s AND a = %(a)s"
    assert placed(sql) == {"a", "b"}


@pytest.mark.parametrize("sql", ["SELECT 5 % 2", "SELECT %s", "SELECT '100%'", "SELECT %(a)d"])
def test_a_lone_percent_is_refused(sql):
    with pytest.raises(InvalidParameters, match="write %%"):
        placed(sql)


def test_choices_are_shown_as_people_read_them_and_years_as_they_are():
    parameter = Parameter("paths", "Paths", choices=(100_000, 2004, 12_345.5, True, "x"))
    assert [text for _, text in parameter.shown_choices] == ["100,000", "2004", "12,345.5", "True", "x"]

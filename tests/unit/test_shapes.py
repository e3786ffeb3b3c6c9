"""The shapes of errors, by which dead letters are grouped."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plumbing import error_shapes


@pytest.mark.parametrize(
    ("error", "shape"),
    [
        ("TimeoutError: timed out after 30.5 s", "TimeoutError: timed out after # s"),
        ("ValueError: no region 'EU' for \"job 7\"", "ValueError: no region '…' for \"…\""),
        ("E2: can't read 12, won't", "E2: can't read #, won't"),
        ("E: 3fa85f64-5717-4562-b3fc-2c963f66afa6 and 0xFF and deadbeef01", "E: # and # and #"),
        ("E: facade decade", "E: facade decade"),
        ("E: on 2026-11-22 at 06:15:00", "E: on # at #"),
        ("E:\n  two\tlines", "E: two lines"),
        ("KeyError", "KeyError"),
        (
            "AttributeError: 'Invoice' object has no attribute 'net_total'",
            "AttributeError: 'Invoice' object has no attribute 'net_total'",
        ),
        ("ModuleNotFoundError: No module named 'shop.tasks'", "ModuleNotFoundError: No module named 'shop.tasks'"),
        ("NameError: name 'Mr. Smith' is not defined", "NameError: name '…' is not defined"),
        (f"TypeError: no argument '{'x' * 41}' or 'x_2'", "TypeError: no argument '…' or 'x_#'"),
        ("KeyError: 'alice'", "KeyError: '…'"),
        ("something 12 odd", "something # odd"),
        ("", error_shapes.NO_ERROR),
        (" odd", "… odd"),
    ],
)
def test_errors_that_differ_in_numbers_ids_and_quotes_have_one_shape(error, shape) -> None:
    assert error_shapes.shape(error) == shape


@given(st.text())
def test_a_shape_survives_a_form_and_tells_the_class_of_its_error(error) -> None:
    shape = error_shapes.shape(error)
    assert shape == shape.strip() == " ".join(shape.split())
    assert len(shape) <= error_shapes.MAX_SHAPE
    assert shape == error_shapes.NO_ERROR or error_shapes.class_of(shape) == error_shapes.class_of(error)

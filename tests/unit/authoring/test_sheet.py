"""A cell that a tenant wrote runs nothing in the spreadsheet of whoever opens the file."""

import pytest

from jobs.authoring import sheet


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_a_text_that_begins_like_a_formula_is_a_text(first):
    assert "'" + first in sheet.line([f"{first}cmd|' /C calc'!A0"])


def test_numbers_and_other_texts_are_left_alone():
    assert sheet.line([-1, 2.5, "a=b", None, 'say "x", y']) == '-1,2.5,a=b,,"say ""x"", y"'

"""A cell that a tenant wrote runs nothing in the spreadsheet of whoever opens the file."""

import csv

from plumbing import sheet


def test_a_text_that_begins_like_a_formula_is_a_text(subtests):
    for first in ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"):
        with subtests.test(first):
            assert "'" + first in sheet.line([f"{first}cmd|' /C calc'!A0"])


def test_numbers_and_other_texts_are_left_alone():
    assert sheet.line([-1, 2.5, "a=b", None, 'say "x", y']) == '-1,2.5,"a=b","","say ""x"", y"'


def test_a_text_is_one_cell_whatever_separates_cells():
    for separator in (";", "\t", "|"):
        [[cell]] = csv.reader([sheet.line([f"a{separator}=1+1"])], delimiter=separator)
        assert cell == f"a{separator}=1+1"

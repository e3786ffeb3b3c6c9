"""A cell that a tenant wrote runs nothing in the spreadsheet of whoever opens the file."""

from jobs.authoring import sheet


def test_a_text_that_begins_like_a_formula_is_a_text(subtests):
    for first in ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"):
        with subtests.test(first):
            assert "'" + first in sheet.line([f"{first}cmd|' /C calc'!A0"])


def test_numbers_and_other_texts_are_left_alone():
    assert sheet.line([-1, 2.5, "a=b", None, 'say "x", y']) == '-1,2.5,a=b,,"say ""x"", y"'

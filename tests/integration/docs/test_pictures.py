"""The pictures of the documentation show the pages as they are."""

from docs.pictures import shown


def test_every_picture_is_of_a_known_page():
    assert {path.stem.rpartition("-")[0] for path in shown.DIGESTS.parent.glob("*.png")} == set(shown.PAGES)


def test_no_picture_is_older_than_its_page():
    old = sorted(set(shown.digests().items()) - set(shown.taken().items()))
    assert not old, f"these pages look different from their pictures: run make pictures ({old})"


def test_a_rule_of_the_style_sheet_counts_for_the_pages_that_have_its_classes():
    style = (
        "th { a }\n.bar { b }\n.bar .fill, .strip { c }\n.state:is(.dead, .live) { d }\n@media print {\n.bar { e }\n}"
    )
    assert shown.rules_for({"bar"}, style) == ["th { a }", ".bar { b }"]
    assert shown.rules_for({"strip", "state"}, style) == [
        "th { a }",
        ".bar .fill, .strip { c }",
        ".state:is(.dead, .live) { d }",
    ]

"""The list of texts that are not plain English yet only shrinks (tools/plain.py)."""

import ast

from tools import plain

MOST = 4  # faults that the list may allow: the Unix account nobody, and a text that a migration holds


def test_the_list_of_exceptions_does_not_grow():
    assert sum(plain.allowed().values()) <= MOST


def test_the_lint_finds_a_docstring_without_a_subject_two_attributes_in_a_line_and_odd_words(tmp_path):
    path = tmp_path / "odd.py"
    path.write_text(
        '"""Of a lane."""\n\ndef free():\n    """Return it. slots: free. users: theirs.\n\n    Whoever asks.\n    """\n'
    )
    assert ast.parse(path.read_text())
    assert [fault.split(":")[1] for fault in plain.faults(path)] == ["1", "4", "6"]


def test_the_lint_accepts_sentences_and_one_attribute_a_line(tmp_path):
    path = tmp_path / "plain.py"
    path.write_text('"""Count the free slots.\n\nslots: their number.\nusers: who holds them.\n"""\n')
    assert plain.faults(path) == []

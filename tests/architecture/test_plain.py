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


def test_the_lint_finds_a_name_of_a_test_without_a_noun(tmp_path):
    path = tmp_path / "test_odd.py"
    bad = ("test_what_has_room_is_filled", "test_it_has_room", "test_one_that_has_room", "test_nobody_has_room")
    good = ("test_a_job_has_room", "test_one_of_two_jobs_has_room", "test_items_have_room", "test_whole_batches_start")
    path.write_text("".join(f"def {name}(): ...\n" for name in (*bad, *good)) + "class TestWhatRuns: ...\n")
    assert [fault.rpartition(" ")[2] for fault in plain.faults_of_names(path)] == [*bad, "TestWhatRuns"]

"""The time that a thread waited for a core, as the kernel counts it."""

import pytest

from jobs.worker.children import cores
from jobs.worker.children.cores import waited_for_core


@pytest.fixture
def told(monkeypatch, tmp_path):
    monkeypatch.setattr(cores, "SCHEDSTAT", str(tmp_path / "schedstat"))
    return tmp_path / "schedstat"


def test_is_the_second_figure_in_nanoseconds(told):
    told.write_text("259453631 741430141 67\n")
    assert waited_for_core() == pytest.approx(0.741430141)


@pytest.mark.parametrize("words", ["", "nothing of it\n", "0 0 0 0\n"])
def test_is_nothing_where_something_else_is_told(told, words):
    told.write_text(words)
    assert waited_for_core() == 0


def test_is_nothing_where_nothing_is_told(told):
    assert not told.exists()
    assert waited_for_core() == 0

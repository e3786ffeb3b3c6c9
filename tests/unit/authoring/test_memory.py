"""`current_job().memory` outside a job: a dictionary with the same methods, which nobody shares."""

import pytest

from jobs import MISSING, current_job
from jobs.authoring.memory import Memory


@pytest.fixture
def memory() -> Memory:
    return current_job().memory


def test_a_method_can_remember_for_as_long_as_it_holds_it(memory):
    assert (memory.get("runs", 0), "runs" in memory, len(memory)) == (0, False, 0)
    assert [memory.increment("runs"), memory.increment("runs", by=0.5)] == [1, 1.5]
    memory.merge({"cursor": "a"}, done=[1])
    assert dict(memory) == memory.as_dict() == {"runs": 1.5, "cursor": "a", "done": [1]}
    memory.delete("runs", "never there")
    assert set(memory) == {"cursor", "done"}
    memory.clear()
    assert memory == {}


def test_a_dictionary_read_from_the_memory_is_a_copy(memory):
    memory.as_dict()["a"] = 1
    assert "a" not in memory


@pytest.mark.parametrize(
    ("there", "expected", "applied"),
    [
        ({}, MISSING, True),
        ({}, None, False),
        ({"a": None}, MISSING, False),
        ({"a": None}, None, True),
        ({"a": 1}, 1, True),
        ({"a": 1}, 2, False),
    ],
)
def test_compare_and_set_tells_none_from_null(memory, there, expected, applied):
    memory.merge(there)
    assert memory.compare_and_set("a", expected, "new") is applied
    assert memory.as_dict() == (there | {"a": "new"} if applied else there)


def test_the_next_caller_finds_it_empty(memory):
    """Whoever calls the method next in this process may do so for another tenant."""
    memory.merge(a=1)
    assert not current_job().memory
    assert current_job().memory is not current_job().object_memory


def test_the_memory_is_changed_by_its_methods_alone(memory):
    with pytest.raises(TypeError, match="does not support item assignment"):
        memory["a"] = 1

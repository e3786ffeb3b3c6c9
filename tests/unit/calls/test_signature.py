"""Arguments are bound as Python binds them, and `inspect` is asked only where it has to be."""

import inspect
import subprocess
import sys
from itertools import product
from typing import TYPE_CHECKING

import pytest

from jobs import job
from jobs.calls.signature import Signature

if TYPE_CHECKING:
    from decimal import Decimal


def plain(self, a, b=2): ...
def by_name(self, a, *, c, d=4): ...
def open_ended(self, a=1, **rest): ...
def nothing(self): ...
def defaults(self, a=None, *, b=()): ...


FUNCTIONS = [plain, by_name, open_ended, nothing, defaults]
POSITIONAL = [(), (1,), (1, 2), (1, 2, 3)]
NAMED = [
    {},
    {"a": 1},
    {"b": 1},
    {"c": 1},
    {"a": 1, "c": 2},
    {"a": 1, "b": 2},
    {"rest": 1},
    {"self": 1},
    {"x": 1, "a": 0},
]


def as_python_does(function, args, kwargs):
    bound = inspect.signature(function).bind(None, *args, **kwargs)
    named = {name: value for name, value in bound.arguments.items() if name not in ("self", "rest")}
    return named | bound.arguments.get("rest", {})


def answer(bind, *call):
    """What it returns, or what its TypeError says."""
    try:
        return bind(*call)
    except TypeError as error:
        return str(error)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_every_call_is_bound_or_refused_as_python_does(function):
    calls = list(product(POSITIONAL, NAMED))
    expected = [(call, answer(as_python_does, function, *call)) for call in calls]
    assert [(call, answer(Signature(function).bind, *call)) for call in calls] == expected


def test_a_call_that_fits_does_not_ask_inspect_again(monkeypatch):
    signature = Signature(by_name)
    monkeypatch.setattr(inspect.Signature, "bind", None)
    assert signature.bind((1,), {"c": 3}) == {"a": 1, "c": 3}


def test_a_method_is_looked_at_once():
    from jobs.calls.signature import signature_of

    assert signature_of(plain) is signature_of(plain)


def test_defaults_complete_a_call():
    assert Signature(by_name).complete({"a": 1, "c": 3}) == {"a": 1, "c": 3, "d": 4}


def test_a_default_that_is_no_json_is_the_same_call_in_each_process():
    """An object's text has its address in it; that of a set depends on the process, too."""
    code = """
from jobs.calls.arguments import digest
from jobs.calls.signature import Signature
def plain(*, region=object(), kinds={"a", "b", "c"}, compare=lambda one: one, day="today"): ...
print(digest(Signature(plain, method=False).complete_json({})))
"""
    command = [sys.executable, "-c", f"import django; django.setup(){code}"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    keys = [process.communicate()[0] for process in running]
    assert (len(set(keys)), len(keys[0].strip())) == (1, 36)


def test_a_signature_is_shown_without_self():
    assert Signature(by_name).text == "(a, *, c, d=4)"
    assert Signature(nothing).text == "()"


@pytest.mark.skipif(sys.version_info < (3, 14), reason="before Python 3.14 such names are in quotes")
def test_a_type_may_name_what_only_type_checkers_import_and_its_own_class():
    class Bill:
        @job
        def pay(self, amount: Decimal, *, before: Bill | None = None): ...  # noqa: F821 - evaluated late

        @classmethod
        @job
        def pay_all(cls, *, like: Bill): ...  # noqa: F821

    assert Signature(Bill.pay).text == "(amount, *, before=None)"
    assert Signature(Bill.pay_all.__func__).bind((), {"like": 1}) == {"like": 1}

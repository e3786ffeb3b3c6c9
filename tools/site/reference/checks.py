"""Every system check: its id, what it finds, and the remedy, as the sources say them."""

import ast
from collections.abc import Iterator

from embedded import REPOSITORY
from tools.site.reference.cells import code, table

PLACES = ("jobs", "tenants", "scheduler_project")
LEVELS = {"E": "error: no process starts", "W": "warning"}


def found() -> dict[str, tuple[str, str]]:
    """By id: the finding and the remedy, with … for what depends on the project."""
    trees = (ast.parse(path.read_text()) for place in PLACES for path in (REPOSITORY / place).rglob("*.py"))
    told = {identity: (text, hint) for tree in trees for identity, text, hint in _faults(tree)}
    return dict(sorted(told.items()))


def _faults(tree: ast.AST) -> Iterator[tuple[str, str, str]]:
    """Of the generators under `@check(...)`, which yield a text and a hint; these may be variables."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        calls = [one for one in function.decorator_list if isinstance(one, ast.Call)]
        for identity in (_text(one.args[0]) for one in calls if getattr(one.func, "id", "") == "check"):
            said: dict[str, str] = {}
            for node in sorted(ast.walk(function), key=lambda one: getattr(one, "lineno", 0)):
                if isinstance(node, ast.Assign):
                    said[ast.unparse(node.targets[0])] = _text(node.value)
                elif isinstance(node, ast.AugAssign):
                    target = ast.unparse(node.target)
                    said[target] = said.get(target, "") + _text(node.value)
                elif isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple):
                    text, hint = (said.get(ast.unparse(one), _text(one)) for one in node.value.elts[:2])
                    yield identity, text, hint


def _text(node: ast.AST | None) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(one) for one in node.values)
    if isinstance(node, ast.BinOp):
        return _text(node.left) + _text(node.right)
    return "…" if node is not None else ""


def part() -> str:
    rows = [(code(one), LEVELS[one.partition(".")[2][0]], text, hint) for one, (text, hint) in found().items()]
    return table(("check", "kind", "what it finds", "what to do"), rows)

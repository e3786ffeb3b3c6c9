"""Every system check: its id, what it finds, and the remedy, as the sources say them."""

import ast
from collections.abc import Iterator

from embedded import REPOSITORY
from tools.site.reference.cells import code, table

PLACES = ("jobs", "tenants", "scheduler_project")
LEVELS = {"E": "error: no process starts", "W": "warning"}


def checks_by_id() -> dict[str, tuple[str, str]]:
    """By id: the finding and the remedy, with … for what depends on the project."""
    trees = (ast.parse(path.read_text()) for place in PLACES for path in (REPOSITORY / place).rglob("*.py"))
    checks = {identity: (text, hint) for tree in trees for identity, text, hint in _faults(tree)}
    return dict(sorted(checks.items()))


def _faults(tree: ast.AST) -> Iterator[tuple[str, str, str]]:
    """Of the generators under `@check(...)`, which yield a text and a hint; these may be variables."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        calls = [decorator for decorator in function.decorator_list if isinstance(decorator, ast.Call)]
        for identity in (
            _text(decorator.args[0]) for decorator in calls if getattr(decorator.func, "id", "") == "check"
        ):
            texts: dict[str, str] = {}
            for node in sorted(ast.walk(function), key=lambda node: getattr(node, "lineno", 0)):
                if isinstance(node, ast.Assign):
                    texts[ast.unparse(node.targets[0])] = _text(node.value)
                elif isinstance(node, ast.AugAssign):
                    target = ast.unparse(node.target)
                    texts[target] = texts.get(target, "") + _text(node.value)
                elif isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple):
                    text, hint = (texts.get(ast.unparse(value), _text(value)) for value in node.value.elts[:2])
                    yield identity, text, hint


def _text(node: ast.AST | None) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(value) for value in node.values)
    if isinstance(node, ast.BinOp):
        return _text(node.left) + _text(node.right)
    return "…" if node is not None else ""


def part() -> str:
    rows = [
        (code(identity), LEVELS[identity.partition(".")[2][0]], text, hint)
        for identity, (text, hint) in checks_by_id().items()
    ]
    return table(("check", "kind", "what it finds", "what to do"), rows)

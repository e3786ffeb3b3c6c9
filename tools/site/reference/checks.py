"""Every system check: its id, what it finds, and the remedy, as the sources say them."""

import ast
import re
from collections.abc import Iterator

from embedded import REPOSITORY
from tools.site.reference.cells import code, table

PLACES = ("jobs", "tenants", "scheduler_project")
IDENTITY = re.compile(r"(?:jobs|tenants|scheduler)\.[EW]\d{3}")
LEVELS = {"E": "error: no process starts", "W": "warning"}


def found() -> dict[str, tuple[str, str]]:
    """By id: the finding and the remedy, with … for what depends on the project."""
    told: dict[str, tuple[str, str]] = {}
    for place in PLACES:
        for path in sorted((REPOSITORY / place).rglob("*.py")):
            source = path.read_text()
            if not IDENTITY.search(source):
                continue
            tree = ast.parse(source)
            for identity in sorted(set(IDENTITY.findall(source))):
                told.setdefault(identity, (_purpose(tree, identity), ""))
            for identity, text, hint in (*_calls(tree), *_faults(tree)):
                told[identity] = (text, hint)
    return dict(sorted(told.items()))


def _calls(tree: ast.AST) -> Iterator[tuple[str, str, str]]:
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("Error", "Warning") and call.args:
            given = {keyword.arg: keyword.value for keyword in call.keywords}
            identity = given.get("id")
            if isinstance(identity, ast.Constant):
                yield str(identity.value), _text(call.args[0]), _text(given.get("hint"))


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
                    said[ast.unparse(node.target)] += _text(node.value)
                elif isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple):
                    text, hint = (said.get(ast.unparse(one), _text(one)) for one in node.value.elts[:2])
                    yield identity, text, hint


def _purpose(tree: ast.AST, identity: str) -> str:
    """What the check with this id says of itself, where it makes several messages in one place."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and f"'{identity}'" in ast.dump(function):
            return ast.get_docstring(function) or ""
    return ""


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

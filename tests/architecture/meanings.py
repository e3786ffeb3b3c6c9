"""What an expression in the source of `jobs` is.

Types come from annotations, from `self.x = ...`, and from local assignments. None: not known, or not of `jobs`.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from tests.architecture.sources import Constant, Imported, Scope, Value, imported, modules, resolve

PASSED_ON = ("partial", "next", "sorted", "list", "tuple", "set", "iter", "reversed")  # their first argument
MAPPINGS = ("dict", "Mapping", "MutableMapping")
SERIES = ("list", "set", "frozenset", "tuple", "Sequence", "Collection", "Iterable", "Iterator", "Generator")


_known: dict[int, Value | None] = {}  # by the id of a node; None while it is looked for: x = f(x)


def infer(node: ast.AST | None, scope: Scope) -> Value | None:
    """What an expression is."""
    if id(node) in _known:
        return _known[id(node)]
    _known[id(node)] = None
    value = _inferred(node, scope)
    if value is None:
        del _known[id(node)]
    else:
        _known[id(node)] = value
    return value


def _inferred(node: ast.AST | None, scope: Scope) -> Value | None:  # noqa: C901, PLR0911 - a table
    match node:
        case ast.Name(id=name):
            return local(name, scope) or _constant(resolve(scope.module, name))
        case ast.Attribute(value=inner, attr=name):
            return member(infer(inner, scope), name)
        case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in PASSED_ON:
            element = infer(first, scope)
            return _element(element) if name == "next" else element
        case ast.Call(func=function):
            return _called(infer(function, scope))
        case ast.BoolOp(values=values):
            return next((element for operand in values if (element := infer(operand, scope))), None)
        case ast.IfExp(body=body, orelse=other):
            return infer(body, scope) or infer(other, scope)
        case ast.Await(value=inner) | ast.NamedExpr(value=inner) | ast.Starred(value=inner):
            return infer(inner, scope)
        case ast.Lambda():
            return Value("function", scope.module, node, owner=scope.owner)
        case ast.Subscript(value=inner):
            return _element(infer(inner, scope))
        case ast.ListComp(elt=inner) | ast.GeneratorExp(elt=inner) | ast.DictComp(value=inner):
            return Value("many", of=infer(inner, scope.within(node)))
    return None


def annotated(node: ast.AST | None, module: str) -> Value | None:  # noqa: PLR0911 - a table
    """An instance of what an annotation names."""
    match node:
        case ast.Constant(value=str(text)):
            return annotated(ast.parse(text, mode="eval").body, module)
        case ast.BinOp(left=left, right=right):
            return annotated(left, module) or annotated(right, module)
        case ast.Subscript(value=ast.Name(id=name), slice=inner):
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            if name in (*MAPPINGS, "Callable"):
                return Value("returns" if name == "Callable" else "many", of=annotated(parts[-1], module))
            if name in SERIES:
                return Value("many", of=annotated(parts[0], module))
            return annotated(node.value, module)
        case ast.Name(id=name):
            match resolve(module, name):
                case Constant(module=source, value=alias):
                    return annotated(alias, source)
                case Value(kind="class") as value:
                    return Value("instance", value.module, value.node)
        case ast.Attribute():
            return _called(value) if (value := infer(node, Scope(module))) and value.kind == "class" else None
    return None


def _constant(value: Value | Constant | None) -> Value | None:
    return infer(value.value, Scope(value.module)) if isinstance(value, Constant) else value


def _element(value: Value | None) -> Value | None:
    return value.of if value and value.kind == "many" else value


def _called(value: Value | None) -> Value | None:
    match value:
        case Value(kind="class"):
            return Value("instance", value.module, value.node)
        case Value(kind="returns"):
            return value.of
        case Value(kind="function" | "local"):
            return annotated(getattr(value.node, "returns", None), value.module)
    return None


def member(base: Value | None, name: str) -> Value | None:
    """An attribute of a value."""
    match base:
        case Value(kind="module"):
            return _constant(resolve(base.module, name))
        case Value(kind="many") if name in ("get", "values", "pop", "copy", "items"):
            return base
        case Value(kind="class" | "instance"):
            attribute = method(base, name)
            is_property = attribute and any(
                "property" in ast.unparse(decorator) for decorator in attribute.node.decorator_list
            )
            return _called(attribute) if is_property else attribute or _field(base, name)
    return None


def method(base: Value, name: str) -> Value | None:
    """A method of a class or of its base classes."""
    for owner in lineage(base):
        for node in owner.node.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
                return Value("function", owner.module, node, owner=owner.node)
    return None


def _field(base: Value, name: str) -> Value | None:
    for owner in lineage(base):
        for node in owner.node.body:
            if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == name:
                return annotated(node.annotation, owner.module) or infer(node.value, Scope(owner.module))
        for value, maker in assigned(owner.node).get(name, ()):
            if field := infer(value, Scope(owner.module, owner.node, (maker,))):
                return field
    return None


def lineage(base: Value) -> Iterator[Value]:
    """The class and its base classes in `jobs`."""
    yield base
    for parent in base.node.bases:
        parent_class = infer(parent.value if isinstance(parent, ast.Subscript) else parent, Scope(base.module))
        if parent_class and parent_class.kind == "class":
            yield from lineage(parent_class)


@cache
def assigned(owner: ast.ClassDef) -> dict[str, list[tuple[ast.expr, ast.FunctionDef]]]:
    """What the methods of a class assign to attributes of `self`, with the method."""
    attributes: dict[str, list[tuple[ast.expr, ast.FunctionDef]]] = {}
    for maker in [node for node in owner.body if isinstance(node, ast.FunctionDef)]:
        for node in ast.walk(maker):
            for target, value in _pairs(node):
                if isinstance(target, ast.Attribute) and getattr(target.value, "id", "") == "self":
                    attributes.setdefault(target.attr, []).append((value, maker))
    return attributes


def _pairs(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Targets and values of an assignment."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            yield from zip(targets, values, strict=False)
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
            yield target, value


def local(name: str, scope: Scope) -> Value | None:
    """What a parameter or a local name is, from the innermost function outwards."""
    for depth in range(len(scope.functions), 0, -1):
        for meaning in _locals(scope.functions[depth - 1]).get(name, ()):
            if value := meaning(Scope(scope.module, scope.owner, scope.functions[:depth])):
                return value
    return None


Meaning = Callable[[Scope], Value | None]


def _itself(scope: Scope) -> Value | None:
    return Value("instance", scope.module, scope.owner) if scope.owner else None


@cache
def _locals(function: ast.AST) -> dict[str, list[Meaning]]:
    """How each local name of a function or a comprehension gets its value."""
    meanings: dict[str, list[Meaning]] = {}
    for target, meaning in _bound(function):
        for variable in target.elts if isinstance(target, ast.Tuple) else [target]:
            if isinstance(variable, ast.Name):
                meanings.setdefault(variable.id, []).append(meaning)
    return meanings


def _bound(function: ast.AST) -> Iterator[tuple[ast.expr, Meaning]]:
    if not isinstance(function, ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp):
        arguments = function.args
        for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            hinted = lambda scope, parameter=parameter: annotated(parameter.annotation, scope.module)  # noqa: E731 - of this parameter
            yield ast.Name(parameter.arg), _itself if parameter.arg == "self" else hinted
    for node in nodes_of(function):
        for target, value in _pairs(node):
            hint = node.annotation if isinstance(node, ast.AnnAssign) else None
            yield target, lambda scope, a=hint, v=value: annotated(a, scope.module) or infer(v, scope)
        match node:
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                yield target, lambda scope, value=value: _element(infer(value, scope))
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                yield target, lambda scope, value=value: _element(infer(value, scope))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield ast.Name(node.name), lambda scope, node=node: Value("local", scope.module, node)
            case ast.Import() | ast.ImportFrom():
                for name, whence in imported(node, modules()).items():
                    yield ast.Name(name), lambda scope, whence=whence: _late(whence)


def _late(whence: Imported) -> Value | None:
    if whence.name is None:
        return Value("module", whence.module) if whence.module in modules() else None
    return _constant(resolve(whence.module, whence.name))


def nodes_of(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, without those of the functions in it."""
    children: Iterable[ast.AST] = ast.iter_child_nodes(node)
    for child in children:
        yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from nodes_of(child)

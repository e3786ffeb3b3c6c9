"""Walks: the files that a reader opens to follow one thing through `jobs`, counted from the code; nothing is run.

    walk("jobs.engine.verbs.cancel:cancel", "jobs.worker.children.reconcile:Reconciler.look")

A walk begins at these functions, one after the other: what joins them is PostgreSQL, a broker or a thread. It reads
each function in the order of its source, and at each name goes into what that means in `jobs`, before it reads on:

* A function or method, whether it is called or passed as a value (a callback). Each is read once.
* A class that is made: its `__init__`, and its base classes. A class that is only named, in an annotation, an `except`
  or an `isinstance`, is not opened.
* A constant of a module: what its value uses. A decorator of a function that is read.
* A hook, which is a field or a parameter of a class that holds a callable: what is given wherever that class is made.
* A method of a Protocol: that of each class in another module which has all methods of the Protocol. A method of
  another class: also those that override it, in other modules.
* A statement: a text among the arguments of a call, in the packages that run SQL, that names a file in `jobs/sql`. It
  is one file, which `python -m jobs.sql NAME` prints with its chapters; `chapters` has those. `opened` counts both.

What cannot be told from the source is not followed: templates, names that are made at run time. LEAVES are not opened:
data, and what every file uses. `beyond` names functions that are not opened because another walk begins there;
`elsewhere` names modules whose hooks are not taken because they belong to processes of another kind.

climb: a step from one file into another of a higher floor, so against the imports, through a hook; each pair of files
once. floor: the layer of the room in import-linter's contract; within a room, the longest chain of imports below.
return: a step into a file that was opened and left before, to a function that was not read yet. The methods of a class
are read together; the functions of the store are looked up one by one, as the statements are. Neither is a return.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from jobs.sql import HERE, INCLUDE
from jobs.sql import files as statements
from tests.architecture.meanings import assigned, infer, lineage, local, member, method
from tests.architecture.sources import ROOT, Constant, Scope, Value, floor, modules, resolve

LEAVES = (
    *("jobs.models", "jobs.conf", "jobs.lifecycle", "jobs.telemetry", "jobs.signals", "jobs.sql", "jobs.migrations"),
    *("jobs.store.rows", "jobs.store.session", "jobs.store.clock"),  # how any statement is run
)
RUN_SQL = ("jobs.store", "jobs.reading", "jobs.recording", "jobs.console", "jobs.portal", "jobs.contrib", "jobs.checks")
LOOKED_UP = "jobs.store."
STAND_INS = "jobs.contrib.testing"  # take the place of a worker, where there is none
LOG = ("log", "moved")  # name a transition, not a statement


@dataclass
class Walk:
    """files: in the order in which they are opened. climbs: from, to. returns: from, to, function. All as modules."""

    beyond: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    files: list[str] = field(default_factory=list)
    chapters: list[str] = field(default_factory=list)
    climbs: list[tuple[str, str]] = field(default_factory=list)
    returns: list[tuple[str, str, str]] = field(default_factory=list)
    _read: set[int] = field(default_factory=set)

    @property
    def opened(self) -> list[str]:
        """The files and the chapters of SQL: all that a reader opens."""
        return [*self.files, *self.chapters]

    def begin(self, start: str) -> None:
        """Walk from `module:function` or `module:Class.method`. Raises ValueError if there is none."""
        module, _, path = start.partition(":")
        value: Value | None = Value("module", module)
        for part in path.split("."):
            value = member(value, part)
        if value is None or value.kind != "function":
            raise ValueError(f"no function {start}")
        self._enter(value, module)

    def _enter(self, function: Value, caller: str) -> None:
        """Read a function, or make an instance of a class."""
        node, module = function.node, function.module
        if isinstance(node, ast.ClassDef):
            for name in ("__init__", "__post_init__"):
                if maker := method(function, name):
                    self._enter(maker, caller)
            self._read.add(id(node))
            self._open(module)
            return
        name = getattr(node, "name", "a lambda")
        label = f"{module}:{function.owner.name}.{name}" if function.owner else f"{module}:{name}"
        if module.startswith(LEAVES) or label in self.beyond or id(node) in self._read:
            return
        if module != caller:
            self._step(caller, module)
            known = module.startswith(LOOKED_UP) or id(function.owner or node) in self._read
            if modules()[module].path in self.files and not known:
                self.returns.append((caller, module, name))
        self._read |= {id(node), id(function.owner or node)}
        self._open(module)
        for other in implementations(function) if function.owner else ():
            if not other.module.startswith(self.elsewhere):
                self._enter(other, module)
        self._follow(node, Scope(module, function.owner))

    def _step(self, caller: str, module: str) -> None:
        if floor(module) > floor(caller) and (caller, module) not in self.climbs:
            self.climbs.append((caller, module))

    def _open(self, module: str) -> None:
        if not module.startswith(LEAVES) and modules()[module].path not in self.files:
            self.files.append(modules()[module].path)

    def _follow(self, node: ast.AST, scope: Scope) -> None:
        """Read what is below, in the order of the source."""
        inside = scope
        match node:
            case ast.Name(ctx=ast.Load()):
                if not local(node.id, scope):
                    self._use(resolve(scope.module, node.id), scope)
            case ast.Attribute(ctx=ast.Load()):
                self._attribute(infer(node.value, scope), node.attr, scope)
            case ast.Call():
                self._call(node, scope)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                inside = scope.within(node)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                inside = scope.within(node)
            case ast.arg() | ast.ExceptHandler(type=None):
                return
        for child in ast.iter_child_nodes(node):
            if child is not getattr(node, "annotation", None) and child is not getattr(node, "returns", None):
                self._follow(child, inside)

    def _call(self, node: ast.Call, scope: Scope) -> None:
        made, arguments = infer(node.func, scope), [*node.args, *(word.value for word in node.keywords)]
        self._read |= {id(argument) for argument in arguments}  # as hooks: they are read here
        if made and made.kind == "class":
            self._enter(made, scope.module)
        if scope.module.startswith(RUN_SQL) and getattr(node.func, "id", "") not in LOG:
            for argument in arguments:
                if isinstance(argument, ast.Constant) and argument.value in statements():
                    self._statement(statements()[argument.value])

    def _use(self, value: Value | Constant | None, scope: Scope) -> None:
        """A name that is read."""
        if isinstance(value, Constant):
            if id(value.value) not in self._read and not value.module.startswith(LEAVES):
                self._read.add(id(value.value))
                if not isinstance(value.value, ast.Constant):
                    self._open(value.module)
                self._follow(value.value, Scope(value.module))
        elif value and value.kind == "function":
            self._enter(value, scope.module)

    def _attribute(self, base: Value | None, name: str, scope: Scope) -> None:
        if base is None or base.kind not in ("module", "class", "instance"):
            return
        if base.kind == "module":
            self._use(resolve(base.module, name), scope)
        elif function := method(base, name):
            self._enter(function, scope.module)
        else:
            for given, there in hooks(base, name):
                if id(given) not in self._read and not there.module.startswith(self.elsewhere):
                    self._read.add(id(given))
                    self._step(scope.module, there.module)
                    self._open(there.module)
                    self._follow(given, there)

    def _statement(self, path: Path) -> None:
        name = path.relative_to(ROOT).as_posix()
        if name not in self.files:
            self.files.append(name)
            self._chapters(path)

    def _chapters(self, path: Path) -> None:
        for chapter in INCLUDE.findall(path.read_text()):
            beside, shared = path.parent / f"{chapter}.sql", HERE / f"{chapter}.sql"
            inner = beside if beside.exists() else shared
            if (name := inner.relative_to(ROOT).as_posix()) not in self.chapters:
                self.chapters.append(name)
                self._chapters(inner)


def hooks(base: Value, name: str) -> Iterator[tuple[ast.expr, Scope]]:
    """The callables that are given for an attribute, and where."""
    passed = (getattr(value, "id", "") for value, _ in assigned(base.node).get(name, ()))
    for key in (name, *passed):
        for given, there in _given().get((base.node.name, key), ()):
            hook = infer(given, there)
            if hook and hook.kind in ("function", "local") and not there.module.startswith(LEAVES):
                yield given, there


@cache
def _given() -> dict[tuple[str, str], list[tuple[ast.expr, Scope]]]:
    """What is given wherever a class is made, by the class and the name of the field or parameter."""
    values: dict[tuple[str, str], list[tuple[ast.expr, Scope]]] = {}
    for module in modules().values():
        for call, scope in _calls(module.tree, Scope(module.name)):
            made = infer(call.func, scope)
            if made and made.kind == "class" and not module.name.startswith(STAND_INS):
                words = [(word.arg, word.value) for word in call.keywords]
                for name, value in [*zip(_parameters(made), call.args, strict=False), *words]:
                    values.setdefault((made.node.name, name), []).append((value, scope))
    return values


def _calls(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.Call, Scope]]:
    for child in ast.iter_child_nodes(node):
        inside = scope
        match child:
            case ast.ClassDef():
                inside = Scope(scope.module, child)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                inside = scope.within(child)
            case ast.Call():
                yield child, scope
        yield from _calls(child, inside)


def _parameters(made: Value) -> list[str]:
    if maker := method(made, "__init__"):
        return [parameter.arg for parameter in maker.node.args.args[1:]]
    inner = [node for owner in lineage(made) for node in owner.node.body if isinstance(node, ast.AnnAssign)]
    return [getattr(parameter.target, "id", "") for parameter in inner]


def implementations(function: Value) -> Iterator[Value]:
    """The methods in other modules that take the place of this one: of its Protocol, or overriding it."""
    is_protocol = any(ast.unparse(base).startswith("Protocol") for base in function.owner.bases)
    needed = {node.name for node in function.owner.body if isinstance(node, ast.FunctionDef)}
    for module in modules().values():
        for owner in (
            module.tree.body if module.name != function.module and not module.name.startswith(STAND_INS) else ()
        ):
            if isinstance(owner, ast.ClassDef):
                methods = {node.name: node for node in owner.body if isinstance(node, ast.FunctionDef)}
                if is_protocol:
                    replaces = needed <= methods.keys()
                else:
                    bases = [parent.node for parent in lineage(Value("class", module.name, owner))]
                    replaces = function.node.name in methods and function.owner in bases
                if replaces and not function.node.name.startswith("__"):
                    yield Value("function", module.name, methods[function.node.name], owner=owner)


def walk(*starts: str, beyond: tuple[str, ...] = (), elsewhere: tuple[str, ...] = ()) -> Walk:
    """Walk from these functions, one after the other, as one reader does."""
    made = Walk(beyond, elsewhere)
    for start in starts:
        made.begin(start)
    return made

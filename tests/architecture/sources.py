"""The modules of `jobs` as their source says: what the names at the top of each mean, and its floor."""

import ast
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Imported:
    """name: of the module's; None: the module itself."""

    module: str
    name: str | None = None


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass
class Module:
    """names: what each means: a definition, an import, or the expression of a constant."""

    name: str
    path: str
    tree: ast.Module
    names: dict[str, Definition | Imported | ast.expr] = field(default_factory=dict)


@cache
def modules() -> dict[str, Module]:
    modules_by_name = {}
    for path in sorted((ROOT / "jobs").rglob("*.py")):
        relative = path.relative_to(ROOT)
        parts = relative.with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        modules_by_name[name] = Module(name, relative.as_posix(), ast.parse(path.read_text()))
    for module in modules_by_name.values():
        _read_names(module, module.tree.body, modules_by_name)
    return modules_by_name


def _read_names(module: Module, statements: list[ast.stmt], known: dict[str, Module]) -> None:
    for node in statements:
        match node:
            case ast.Import() | ast.ImportFrom():
                module.names |= imported(node, known)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                module.names[node.name] = node
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)) if node.value:
                module.names[name] = node.value
            case ast.If() | ast.Try():
                _read_names(module, [*node.body, *node.orelse], known)


def imported(node: ast.Import | ast.ImportFrom, known: dict[str, Module]) -> dict[str, Imported]:
    """What the names of an import statement mean."""
    if isinstance(node, ast.Import):
        return {alias.asname or alias.name: Imported(alias.name) for alias in node.names}
    names = {}
    for alias in node.names:
        inner = f"{node.module}.{alias.name}"
        whole = Imported(inner) if inner in known else Imported(str(node.module), alias.name)
        names[alias.asname or alias.name] = whole
    return names


@dataclass(frozen=True)
class Value:
    """What an expression is. owner: the class of a method.

    kind: module, class, instance, function; local: a function in another one; many: a series (of); returns: a callable.
    """

    kind: str
    module: str = ""
    node: ast.AST | None = None
    of: "Value | None" = None
    owner: ast.ClassDef | None = None


@dataclass(frozen=True)
class Constant:
    """A name of a module that stands for an expression."""

    module: str
    value: ast.expr


@dataclass(frozen=True)
class Scope:
    """Where an expression stands. owner: the class around it. functions: those around it, the outermost first."""

    module: str
    owner: ast.ClassDef | None = None
    functions: tuple[ast.AST, ...] = ()

    def within(self, function: ast.AST) -> "Scope":
        return Scope(self.module, self.owner, (*self.functions, function))


def resolve(module: str, name: str) -> Value | Constant | None:
    """What a name of a module means."""
    where = modules().get(module)
    match where.names.get(name) if where else None:
        case Imported(module=source, name=None):
            return Value("module", source) if source in modules() else None
        case Imported(module=source, name=str(attribute)):
            return resolve(source, attribute)
        case ast.ClassDef() as node:
            return Value("class", module, node)
        case ast.FunctionDef() | ast.AsyncFunctionDef() as node:
            return Value("function", module, node)
        case ast.expr() as value:
            return Constant(module, value)
    return Value("module", f"{module}.{name}") if f"{module}.{name}" in modules() else None


def floor(module: str) -> tuple[int, int]:
    """The layer of its room in the contract of import-linter, and the longest chain of imports below it."""
    room = module.split(".")[1] if "." in module else ""
    return _layers().get(room, len(_layers())), _chains()[module]


@cache
def _layers() -> dict[str, int]:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract.get("containers") == ["jobs"])
    return {room.strip(): height for height, rooms in enumerate(reversed(layers)) for room in rooms.split(":")}


@cache
def _chains() -> dict[str, int]:
    below = {
        name: {meaning.module for meaning in module.names.values() if isinstance(meaning, Imported)} & modules().keys()
        for name, module in modules().items()
    }
    chains: dict[str, int] = {}

    def chain(name: str) -> int:
        if name not in chains:
            chains[name] = 0  # where a circle by a late import ends
            chains[name] = max((chain(other) + 1 for other in below[name]), default=0)
        return chains[name]

    return {name: chain(name) for name in below}

"""Find what is not plain English: `make lint` fails if a file has more of it than `plain_exceptions.txt` allows.

Four rules. The first sentence of a docstring has a subject and a verb, is a noun with what it is, or begins with an
imperative. A docstring explains one attribute or parameter a line. The words in WORDS have plainer ones. The name of a
test is a sentence with a noun as its subject. The list of exceptions only shrinks: `python -m tools.plain --shrink`
writes it anew, and never adds to it.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

APPS = ("jobs", "tenants", "plumbing", "scheduler_project", "reports", "embedded", "docs")
KINDS = {".py", ".sql", ".html", ".md"}
WRITTEN_ONCE = ("jobs/migrations", "tenants/migrations", "reports/migrations", "docs/adr", "docs/releases")
EXCEPTIONS = Path(__file__).with_name("plain_exceptions.txt")
NO_SUBJECT = re.compile(
    r"(?:Of|As|Those|That|These|Whether|What|When|Who|Whoever|Whose|Where|Which|How|Why|Without|With|For|From|In|On|If|To|At|By|Not"
    r"|It|Otherwise|The same)\b(?! (?:this|that|a|an|the) [^.,:]+, )"
)
ATTRIBUTES = re.compile(r"(?:^|(?<=[.;] ))[a-z_*]+(?:, [a-z_*]+)*: ")
WORDS = re.compile(
    r"\b(?:(?:is|are|was|were|be|been|being|not) (?:said|told|heard|obeyed)|nobody|somebody|whoever|whomever"
    r"|(?:for|of|by|to) who|ended (?:well|badly)|ends (?:well|badly)|end (?:well|badly))\b",
    re.IGNORECASE,
)
NO_NOUN = re.compile(
    r"test_(?:what|whatever|it|they|of|who|whoever|whose|nobody|those|that|whether|nor|so|also|and|if"
    r"|one_(?:that|who|whose|which|is|for|in|on|to|with|without))_"
    r"|Test(?:What|Whatever|Who|Whose|Nobody|Somebody|When|While|Whether)(?![a-z])"
)


def faults(path: Path) -> list[str]:
    """Return `line: what is wrong` for each fault of a file."""
    text = path.read_text()
    matches = [(number, repr(word)) for number, line in enumerate(text.splitlines(), 1) for word in WORDS.findall(line)]
    if path.suffix == ".py":
        matches += _docstrings(ast.parse(text))
    return [f"{path}:{number}: {what}" for number, what in sorted(matches)]


def faults_of_names(path: Path) -> list[str]:
    """Return `line: what is wrong` for each name of a test in a file that has no noun as its subject."""
    named = [
        (node.lineno, node.name)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return [f"{path}:{number}: no noun as its subject: {name}" for number, name in sorted(named) if NO_NOUN.match(name)]


def _docstrings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        text = ast.get_docstring(node)
        if text is None:
            continue
        begins = node.body[0].lineno
        if NO_SUBJECT.match(text) or ATTRIBUTES.match(text):
            yield begins, f"no subject and verb: {text.splitlines()[0]!r}"
        for number, line in enumerate(text.splitlines()):
            marks = list(ATTRIBUTES.finditer(line))
            if len(marks) > 1 or (marks and marks[0].start() > 0):
                yield begins + number, "more than one attribute in a line"


def allowed() -> dict[str, int]:
    """Return how many faults the list of exceptions allows, by path."""
    lines = [line.rsplit(" ", 1) for line in EXCEPTIONS.read_text().splitlines()]
    return {path: int(number) for path, number in lines}


def main(*arguments: str) -> int:
    """Print the faults of the files that have more than they may; return the exit status."""
    rules = [
        (path, faults)
        for app in APPS
        for path in sorted(Path(app).rglob("*"))
        if path.suffix in KINDS and not any(path.is_relative_to(old) for old in WRITTEN_ONCE)
    ]
    rules += [(path, faults_of_names) for path in sorted(Path("tests").rglob("*.py"))]
    wanted = [Path(argument) for argument in arguments if not argument.startswith("--")]
    faults_by_path = {
        str(path): rule(path) for path, rule in rules if not wanted or any(path.is_relative_to(w) for w in wanted)
    }
    if wanted:
        print("\n".join(fault for of_file in faults_by_path.values() for fault in of_file))  # noqa: T201
        return 0
    may = allowed()
    now = Counter({path: min(len(of_file), may.get(path, 0)) for path, of_file in faults_by_path.items() if of_file})
    if "--shrink" in arguments:
        EXCEPTIONS.write_text("".join(f"{path} {number}\n" for path, number in sorted(now.items()) if number))
        return 0
    over = [fault for path, of_file in faults_by_path.items() if len(of_file) > may.get(path, 0) for fault in of_file]
    stale = [
        f"{path}: {now[path]} faults, and the list allows {most}: type python -m tools.plain --shrink"
        for path, most in may.items()
        if now[path] < most
    ]
    print("\n".join([*over, *stale]), end="\n" if over or stale else "")  # noqa: T201
    return 1 if over or stale else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

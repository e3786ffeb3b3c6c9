"""A class name has one meaning in jobs/: it stands in one package, or the list has a reason. The list only shrinks."""

import ast
from collections import defaultdict
from pathlib import Path

import jobs

ROOT = Path(jobs.__file__).parent
MOST = 26  # names in the list of reasons
BOOK = "the book of a row in memory, or one look at it, has the name of the row"
SCHEMA = "the schema of an API has the name of what it shows: clients read it in the OpenAPI document"
OPEN = "two meanings; the next change of one of these modules qualifies one of them"
REASONS = {
    "Answer": OPEN,
    "AnyJob": "an API's choice between schemas, and a type of rows",
    "Attempt": "the public one of the tests of an application, and the row",
    "Batch": SCHEMA,
    "Call": SCHEMA,
    "Column": OPEN,
    "Entry": OPEN,
    "Job": SCHEMA,
    "Lane": BOOK,
    "LastDay": SCHEMA,
    "Memory": SCHEMA,
    "NewBatch": SCHEMA,
    "Outcome": OPEN,
    "Pass": "a pass of the claim, in the database and in memory",
    "Pool": OPEN,
    "Progress": OPEN,
    "Question": OPEN,
    "Queue": BOOK,
    "Sample": OPEN,
    "Schedule": SCHEMA,
    "Snapshot": "the state of the scheduler at a moment: for a forecast, and for a page",
    "Starts": SCHEMA,
    "Storable": OPEN,
    "Tenant": BOOK,
    "Usage": SCHEMA,
    "Worker": BOOK,
}


def packages_of_classes() -> dict[str, set[str]]:
    """Return the packages of jobs/ that define a class of this name at the top level of a module."""
    packages: dict[str, set[str]] = defaultdict(set)
    for path in ROOT.rglob("*.py"):
        package = path.relative_to(ROOT).parts[0]
        if package != "migrations":
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.ClassDef):
                    packages[node.name].add(package)
    return packages


def test_a_class_name_stands_in_one_package_unless_the_list_has_a_reason():
    shared = {name for name, packages in packages_of_classes().items() if len(packages) > 1}
    assert shared == set(REASONS)


def test_the_list_of_reasons_does_not_grow():
    assert len(REASONS) <= MOST

"""What an index and a resolver read of the library: its packages, its description, its classifiers."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions

import pytest
from packaging.requirements import Requirement
from trove_classifiers import classifiers

from embedded import REPOSITORY
from hatch_build import described, urls
from plumbing.names import OURS

PACKAGES = (*OURS, "plumbing")
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
NAMED = [
    Requirement(one) for some in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()) for one in some
]
# Of others: pydantic says which pydantic-core exactly, and pytest loads its plugin itself.
BROUGHT = {"pydantic-core", "pytest"}
PAGE = (REPOSITORY / "PACKAGE.md").read_text()


def imported() -> dict[str, str]:
    """The distributions that our modules import, each with such a module."""
    homes, found = packages_distributions(), {}
    for path in (path for app in PACKAGES for path in (REPOSITORY / app).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            for name in {name.partition(".")[0] for name in names} - sys.stdlib_module_names - set(PACKAGES):
                if name != "annotationlib":  # Python 3.14's
                    found |= {home.lower().replace("_", "-"): str(path) for home in homes.get(name, [name])}
    return found


def test_every_package_that_is_imported_is_named_with_the_oldest_that_does():
    """`make test-oldest` lowers what is named, and nothing else."""
    named = {one.name.lower(): one for one in NAMED}
    homes = {name: path for name, path in imported().items() if not name.startswith("opentelemetry-")}
    assert {name: path for name, path in homes.items() if name not in BROUGHT | set(named)} == {}
    assert "opentelemetry-api" in named
    assert [str(one) for one in NAMED if not any(bound.operator == ">=" for bound in one.specifier)] == []


def test_no_package_brings_bounds_that_are_not_ours():
    """An extra of another's, as `celery[redis]`, would lower what a project has."""
    assert [str(one) for one in NAMED if one.extras] == []


def test_the_description_on_an_index_leads_to_the_files_of_the_release_or_to_none():
    shown = described(PAGE, "https://host/owner/name", "1.2.3")
    links = re.findall(r"\]\(([^)\s]+)\)", shown) + list(urls("https://host/owner/name", "1.2.3").values())
    assert len(links) > 10
    for link in links:
        assert link.startswith("https://host/owner/name"), link
        file = re.fullmatch(r"https://host/owner/name/blob/v1\.2\.3/(.+)", link)
        assert file is None or (REPOSITORY / file[1].replace("1.2.3", PROJECT["version"])).exists(), link
    assert re.findall(r"\]\((?!http|#)", described(PAGE, "", "1.2.3")) == []
    assert urls("", "1.2.3") == {}


def test_the_description_is_for_a_reader_without_a_checkout():
    assert not re.search(r"127\.0\.0\.1|\bmake \w|<img|mermaid", PAGE)
    assert f'pip install "{PROJECT["name"]}[' in PAGE
    assert len(PAGE.splitlines()) < 120


def test_the_classifiers_are_known_and_name_each_python_and_django_that_was_tried():
    assert set(PROJECT["classifiers"]) <= classifiers
    tried = (REPOSITORY / "docs/own-project.md").read_text()
    for name, row in ("Programming Language :: Python", "Python"), ("Framework :: Django", "Django"):
        works = re.search(rf"^\| {row} \| ([^|]+) \|", tried, re.MULTILINE)[1]
        versions = set(re.findall(r"(?<![.\d])\d\.\d+(?![.\d])", works.partition("(")[0]))
        assert versions == {
            one.removeprefix(f"{name} :: ") for one in PROJECT["classifiers"] if re.match(rf"{name} :: \d\.", one)
        }


@pytest.mark.parametrize("theirs", ["tenants/__init__.py", "tenants.py", "jobs/__init__.py", "jobs.py", "plumbing.py"])
def test_a_package_of_the_project_that_hides_one_of_ours_is_told_first_with_the_way_out(theirs, tmp_path):
    file, name = tmp_path / theirs, re.match(r"\w+", theirs)[0]
    file.parent.mkdir(exist_ok=True)
    file.write_text("import django.contrib.auth.models" if name == "jobs" else "")  # not before the apps are loaded
    (tmp_path / "mysite.py").write_text('INSTALLED_APPS = ["tenants", "jobs"]')
    environ = os.environ | {"PYTHONPATH": f"{tmp_path}:{REPOSITORY}", "DJANGO_SETTINGS_MODULE": "mysite"}
    for command in (["check"], ["jobs", "install", "--check"]):
        argv = [sys.executable, "-m", "django", *command]
        done = subprocess.run(argv, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False, timeout=60)
        last = done.stderr.splitlines()[-1]
        assert f"The package `{name}` is the project's own, {file}" in last
        assert f"mysite.{name}" in last and "JOBS_PREFIX" in last

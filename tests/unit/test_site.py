"""The documentation's site, as far as it is not Markdown's own. `make docs` builds it, and refuses a broken link."""

import inspect
import re
from argparse import ArgumentParser
from typing import get_args

import markdown
from django.utils import timezone

import jobs
from docs.pictures import diagrams
from embedded import REPOSITORY
from jobs.checks import OTHERS
from jobs.conf import ALL_SETTINGS
from jobs.console.cli import searching
from jobs.console.cli.screen import COLOURS
from jobs.console.operations.filters import JobFilters
from jobs.console.ops.shared.meanings import TENANT_STATES, TERMS
from jobs.contrib.metrics import collector, tenants
from jobs.http.codes import ProblemCode
from jobs.http.inputs import State
from jobs.reading.health import RULES
from jobs.reading.status_words import TABLE
from tests.pages import PAGES, table
from tools.site.hooks import ELSEWHERE
from tools.site.links import OUTSIDE, relinked
from tools.site.lists import widened
from tools.site.reference import MARK, PARTS
from tools.site.reference.checks import PLACES
from tools.site.reference.endpoints import operations
from tools.site.reference.metrics import families
from tools.site.reference.settings import VARIABLES

NESTED = """\
Text
- one
  goes on
  - inner

    ```sh
    # 1. no item
    ls
    ```

Then
1. first

   more of it
2. second
"""


def test_lists_are_read_as_on_the_repositorys_pages():
    html = re.sub(r"\s+", " ", markdown.markdown(widened(NESTED), extensions=["pymdownx.superfences"]))
    assert "<p>Text</p> <ul> <li>one goes on<ul> <li> <p>inner</p> <div" in html
    assert "<p>Then</p> <ol> <li> <p>first</p> <p>more of it</p> </li> <li> <p>second</p> </li>" in html
    assert html.count("<li>") == 4


def test_a_link_leads_to_the_page_on_the_site_to_the_source_or_nowhere():
    text = "[a](../deploy/README.md#order) [b](jobs.md) [c](../Makefile) [d](#here) [e](https://host/x)\n```sh\n[f](x.md)\n```"
    at_host = relinked(text, "docs/operations.md", "https://host/blob/v1")
    assert at_host.startswith(
        "[a](deploy.md#order) [b](jobs.md) [c](https://host/blob/v1/Makefile) [d](#here) [e](https://"
    )
    assert at_host.endswith("[f](x.md)\n```")
    assert "(jobs.md) c [d](#here)" in relinked(text, "docs/operations.md", "")
    assert relinked("[x](../operations.md)", "docs/adr/0001-one-door.md", "") == "[x](../operations.md)"
    assert relinked('<img src="docs/pictures/job-dark.png">', "README.md", "") == '<img src="pictures/job-dark.png">'
    assert relinked("[gone](docs/no-such.md)", "README.md", "") == "[gone](no-such.md)"


def test_every_diagram_has_a_picture_that_is_as_new():
    pages = {"first-look": REPOSITORY / "README.md"} | {path.stem: path for path in (REPOSITORY / "docs").glob("*.md")}
    drawn = {name: diagrams.BLOCK.findall(path.read_text()) for name, path in pages.items()}
    stale = [
        name
        for name, texts in drawn.items()
        if texts and [diagrams.digest(text) in diagrams.picture(name).read_text() for text in texts] != [True]
    ]
    assert stale == [], "see docs/pictures/diagrams.py"
    assert not [name for name, texts in drawn.items() if texts and "&lt;" in diagrams.picture(name).read_text()], (
        "markup"
    )


def test_a_page_that_loads_from_elsewhere_is_refused():
    told = ELSEWHERE.search('<a href="https://x">y</a><script src="https://unpkg.com/shim"></script>')
    assert told[0] == '<script src="https://unpkg.com/shim">'
    assert ELSEWHERE.search('<link href="https://fonts.example/x" rel="stylesheet">')
    assert not ELSEWHERE.search('<a href="https://x">y</a><img src="a.png"><link href="a.css">')


def test_a_page_outside_the_folder_of_documentation_is_a_page_of_the_site():
    assert not [path for path in OUTSIDE if not (REPOSITORY / path).exists()]


class TestReference:
    """What is generated from the sources has all that they have."""

    def test_every_mark_is_of_a_part_and_every_part_is_shown_once(self):
        marks = [mark for page in PAGES for mark in MARK.findall(page.read_text())]
        assert sorted(marks) == sorted(PARTS)

    def test_every_setting_and_variable_is_told_with_a_meaning(self):
        told = PARTS["settings"]()
        names = {*ALL_SETTINGS, *re.findall(r"^#?([A-Z][A-Z0-9_]+)=", VARIABLES.read_text(), re.MULTILINE)}
        assert set(re.findall(r"^\| `(\w+)` \|", told, re.MULTILINE)) == names
        assert re.findall(r"^\| `(\w+)` .*\|  \|$", told, re.MULTILINE) == []
        page = (REPOSITORY / "docs/reference/settings.md").read_text()
        assert [name for name in OTHERS if f"`{name}`" not in page] == []

    def test_every_command_is_told(self):
        told = PARTS["commands"]()
        folders = (REPOSITORY / "jobs/management/commands", REPOSITORY / "reports/management/commands")
        names = {path.stem for folder in folders for path in folder.glob("[a-z]*.py")}
        assert set(re.findall(r"^## (\w+)$", told, re.MULTILINE)) == names
        assert "### jobs explain" in told
        crowded = [part.split()[0] for part in re.split("^## ", told, flags=re.MULTILINE) if "SETTINGS" in part]
        assert crowded == ["demo", "seed_demo"], "Django's own options would hide ours"
        export = told[told.index("### audit export") :].partition("```\n\n")[0]
        assert "--json" not in export, "which it refuses"
        assert told.count("usage: manage.py") >= len(re.findall("^### ", told, re.MULTILINE)) > 30

    def test_every_endpoint_and_code_of_a_problem_is_told(self):
        told = PARTS["endpoints"]()
        assert told.count("/api/v1/") == len(operations()) > 30
        assert re.findall(r"^\| `.*` \|  \|$", told, re.MULTILINE) == []
        places = (REPOSITORY / "jobs", REPOSITORY / "scheduler_project")
        sources = "".join(path.read_text() for place in places for path in place.rglob("*.py"))
        used = set(re.findall(r"ProblemCode\.([A-Z_]+)\b", sources))
        assert used == set(ProblemCode.__members__), "a code that nothing answers is none"
        told = PARTS["problems"]()
        assert re.findall(r"^\| `(\w+)` \| \d{3} \| \S", told, re.MULTILINE) == list(ProblemCode)

    def test_every_metric_and_condition_is_told(self):
        source = inspect.getsource(collector) + inspect.getsource(tenants)
        declared = re.findall(r'(?:gauge\(|alone\(|MetricFamily\()\s*"(?:scheduler_)?([a-z_]+)"', source)
        assert {name.removeprefix("scheduler_").removesuffix("_total") for name, *_ in families()} >= set(declared)
        assert len(families()) == len(declared) + len(tenants.GAUGES) > 30
        assert [rule.code for rule in RULES if f"`{rule.code}`" not in PARTS["conditions"]()] == []

    def test_every_check_is_told_with_what_it_finds(self):
        told = PARTS["checks"]()
        sources = "".join(path.read_text() for place in PLACES for path in (REPOSITORY / place).rglob("*.py"))
        used = set(re.findall(r'"((?:jobs|tenants|scheduler)\.[EW]\d{3})"', sources))
        assert set(re.findall(r"^\| `([\w.]+)` \|", told, re.MULTILINE)) == used
        assert re.findall(r"^\| `[\w.]+` \| [^|]+ \|  \|", told, re.MULTILINE) == []

    def test_every_public_python_name_is_told(self):
        told = PARTS["python"]()
        assert set(jobs.__all__) <= set(re.findall(r"^### (\w+)$", told, re.MULTILINE))


def test_the_glossary_has_the_words_of_the_pages_and_few_others():
    page = REPOSITORY / "docs/glossary.md"
    text = page.read_text()
    assert len(table(page, "word", "meaning")) <= 46
    assert [word for word, meaning in TERMS.items() if f"| {word} | {meaning} |" not in text] == []
    assert [state for state, meaning in TENANT_STATES.items() if f"| {state.value} | {meaning} |" not in text] == []
    assert [name for word, name, meaning in TABLE if f"| {word} | `{name}` | {meaning} |" not in text] == []


def test_the_states_of_a_job_have_one_set_of_names_wherever_they_are_typed_or_shown():
    names = [name for _, name, _ in TABLE]
    parser = ArgumentParser()
    for option in searching.OPTIONS:
        option(parser)
    [of_command] = [action.choices for action in parser._actions if action.dest == "status"]
    assert sorted(get_args(State)) == sorted(of_command) == sorted(names)
    for name in names:
        JobFilters().add("status", name, timezone.now())  # as the search of the pages does
    assert set(COLOURS) - {"paused"} < set(names)

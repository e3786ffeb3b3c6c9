"""The documentation's site, as far as it is not Markdown's own. `make docs` builds it, and refuses a broken link."""

import re

import markdown

from docs.pictures import diagrams
from embedded import REPOSITORY
from tools.site.hooks import ELSEWHERE
from tools.site.links import OUTSIDE, relinked
from tools.site.lists import widened

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


def test_a_page_that_loads_from_elsewhere_is_refused():
    told = ELSEWHERE.search('<a href="https://x">y</a><script src="https://unpkg.com/shim"></script>')
    assert told[0] == '<script src="https://unpkg.com/shim">'
    assert ELSEWHERE.search('<link href="https://fonts.example/x" rel="stylesheet">')
    assert not ELSEWHERE.search('<a href="https://x">y</a><img src="a.png"><link href="a.css">')


def test_a_page_outside_the_folder_of_documentation_is_a_page_of_the_site():
    assert not [path for path in OUTSIDE if not (REPOSITORY / path).exists()]

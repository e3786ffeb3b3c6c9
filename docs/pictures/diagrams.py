"""Draw the diagrams of the documentation for its site, which loads no script to do so.

    npm pack mermaid@11.17.2 && tar xzf mermaid-11.17.2.tgz
    .venv/bin/python -m docs.pictures.diagrams package/dist/mermaid.min.js

A picture has the digest of its text: `make docs` refuses one that is older than its text, and shows a diagram without a
picture as text.
"""

import hashlib
import re
import sys
from pathlib import Path

from tools.chromium import find_chromium

PLACE = Path(__file__).parent
ROOT = PLACE.parent.parent
OPTIONS = "{startOnLoad: false, theme: 'neutral', htmlLabels: false, fontFamily: 'sans-serif'}"
BLOCK = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def picture(page: str) -> Path:
    """Return the file of a page's diagram.

    page: its name on the site, without folders and ending
    """
    return PLACE / f"{page}.svg"


def main(library: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"])
        window = browser.new_page()
        window.set_content("<body></body>")
        window.add_script_tag(path=library)
        window.evaluate(f"mermaid.initialize({OPTIONS})")
        pages = {"first-look": ROOT / "README.md"} | {path.stem: path for path in (ROOT / "docs").glob("*.md")}
        for name, path in sorted(pages.items()):
            for text in BLOCK.findall(path.read_text()):
                drawn = window.evaluate("async text => (await mermaid.render('diagram', text)).svg", text)
                picture(name).write_text(f"{drawn}\n<!-- {digest(text)} -->\n")
                sys.stdout.write(f"{picture(name)}\n")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""A folder gets a picture of each page that a test looks at, and sheets of many: OPS_SHOTS."""

import os
from pathlib import Path

from playwright.sync_api import Browser, Page

SHOTS = os.environ.get("OPS_SHOTS")
SHEET = """<!doctype html><style>
body { margin: 8px; background: #888; font: 12px sans-serif }
figure { display: inline-block; margin: 4px; vertical-align: top; background: #ccc }
div { max-height: 800px; overflow: hidden }
img { display: block; max-width: 470px }
</style>"""


def shoot(page: Page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{name[:60]}.png", full_page=True)


def contact_sheet(browser: Browser, name: str) -> None:
    """One picture of all pictures whose names begin with this."""
    if SHOTS:
        shots = sorted(Path(SHOTS).glob(f"{name}-*.png"))
        figures = (
            f"<figure><div><img src='{shot.name}'></div>{shot.stem.removeprefix(name)}</figure>" for shot in shots
        )
        sheet = Path(SHOTS) / f"{name}.html"
        sheet.write_text(SHEET + "".join(figures))
        page = browser.new_page(viewport={"width": 1960, "height": 900})
        page.goto(sheet.absolute().as_uri())
        page.screenshot(path=sheet.with_suffix(".png"), full_page=True)
        page.close()

"""A folder gets a picture of each page that a test looks at: OPS_SHOTS."""

import os
from pathlib import Path

from playwright.sync_api import Page

SHOTS = os.environ.get("OPS_SHOTS")


def shoot(page: Page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{name[:60]}.png", full_page=True)

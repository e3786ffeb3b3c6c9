"""`make pictures`: take the pictures of the documentation, of a running system with the demo's customers."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django

from docs.pictures import shown
from tools.chromium import find_chromium

PLACE = Path(__file__).parent
WINDOW = {"width": 1280, "height": 800}
ROOM = 12  # pixels below the last whole section; what begins further down is left out
END = f"""{ROOM} + Math.max(...[...document.querySelectorAll("main section")]
    .map(section => section.getBoundingClientRect().bottom).filter(bottom => bottom + {ROOM} <= {WINDOW["height"]}))"""
ROUNDS = 6  # batches of each customer: work for as long as the pictures take
LARGEST = 120_000  # bytes of a picture


def main() -> None:
    """Take them; the engines' addresses are in the environment."""
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright keeps an event loop in this thread
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_project.settings")
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    with tempfile.TemporaryDirectory() as logs, _busy(Path(logs)) as (url, session, pages):
        for scheme in ("light", "dark"):
            _take(url, session, pages, scheme)
    shown.note()


@contextmanager
def _busy(logs: Path) -> Iterator[tuple[str, str, dict[str, str]]]:
    """The demo under way: the address, the session of an operator, and the paths of the pages by name."""
    from django.contrib.auth import get_user_model
    from django.test import Client

    from docs.pictures import yesterday
    from jobs.models import Job, Queue, Worker
    from reports.demo import run
    from reports.demo.burst import submit_batch
    from reports.demo.catalogue import CUSTOMERS
    from reports.demo.seeding import seed
    from tenants.models import Tenant
    from tests.waiting import wait_until

    seed()
    tenants = {customer.slug: Tenant.objects.get(slug=customer.slug) for customer in CUSTOMERS}
    yesterday.write(Queue.objects.get(name="reports"), {tenants[one.slug]: one.slots for one in CUSTOMERS})
    operator = Client()
    operator.force_login(get_user_model().objects.get(username="admin"))
    with run.web_and_workers(logs) as port:
        wait_until(Worker.objects.exists, "the worker registers")
        for _ in range(ROUNDS):
            for customer in CUSTOMERS:
                submit_batch(customer, tenants[customer.slug])
        wait_until(Job.objects.filter(status="success").exists, "the first job ends")
        waiting = Job.objects.filter(status="created", tenant=tenants[CUSTOMERS[-1].slug]).latest("pk")
        pages = {"job": f"jobs/{waiting.pk}/", "overview": "", "tenants": "tenants/"}
        yield f"http://127.0.0.1:{port}", operator.cookies["sessionid"].value, pages


def _take(url: str, session: str, pages: dict[str, str], scheme: str) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"])
        context = browser.new_context(viewport=WINDOW, color_scheme=scheme, reduced_motion="reduce")
        context.add_cookies([{"name": "sessionid", "value": session, "url": url}])
        page = context.new_page()
        for name, path in pages.items():
            page.goto(f"{url}/ops/{path}")
            page.get_by_role("main").wait_for()
            place = PLACE / f"{name}-{scheme}.png"
            size = len(page.screenshot(path=place, clip={"x": 0, "y": 0, **WINDOW, "height": page.evaluate(END)}))
            if size > LARGEST:
                raise SystemExit(f"{place} has {size:,} bytes; a picture of the documentation has at most {LARGEST:,}.")
            sys.stdout.write(f"{place}  {size:,} bytes\n")
        browser.close()


if __name__ == "__main__":
    main()

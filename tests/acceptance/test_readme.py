"""The README's five minutes, as a reader has them: `make up`, a browser, a terminal and an editor."""

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.acceptance.checkout import checkout
from tests.acceptance.reader import README, TENANT, Reader, shell
from tests.pages import blocks
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.long(
        "a sentence of the README's walk that is true no more; its commands are parsed in tests/integration/docs"
    ),
    pytest.mark.browser,
]


def python(holding: str) -> str:
    [text] = [textwrap.dedent(block.text) for block in blocks(README, "python") if holding in block.text]
    return text


COMMANDS = re.findall(r"`(manage (?:startapp|makemigrations) \w+)`", README.read_text())
FIFTH = COMMANDS, python("@job"), f"{python('objects.create')}\n{python('async_(')}"


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    checkout(tmp_path)
    reader = Reader(tmp_path)
    yield reader
    reader.press_control_c()


def without_numbers(text: str) -> list[str]:
    """The lines; a job's id and the time differ from one reader to the next."""
    return [re.sub(r"^job +\d+|\d{4}-.*", "…", line).rstrip() for line in textwrap.dedent(text).splitlines()]


@pytest.mark.timeout(600)
def test_the_five_minutes(reader: Reader, browser: Browser) -> None:
    reader.make_up()  # 1

    ines = reader.log_in(browser, "/", "ines")  # 2
    ines.click("text=Possible futures")
    expect(ines.locator("#run button")).to_be_enabled()
    ines.locator("#run button").evaluate("button => { for (let n = 0; n < 10; n++) button.click() }")  # quickly
    expect(ines.locator("#result table")).to_be_visible(timeout=30_000)
    ran = reader.type("manage jobs list --status success --tenant alder-finch-capital")
    assert ran.count("reports.datareport.execute:12") == 1

    admin = reader.log_in(browser, "/admin/tenants/tenantqueue/", "admin")  # 3
    row = admin.locator("tr", has_text=TENANT)
    expect(row.locator("input[type=number][name$=num_slots]")).to_have_value("5")
    row.locator("input[type=number][name$=num_slots]").fill("0")
    admin.click("[name=_save]")
    expect(row.locator("input[type=number][name$=num_slots]")).to_have_value("0")
    ines.click("#run button")
    expect(ines.locator("#status")).to_have_text("Waiting")
    typed = shell("manage jobs list")
    assert "reports.datareport" in reader.type(typed.splitlines()[0])
    [shown] = [block.text for block in blocks(README, "text") if "gate" in block.text]
    assert without_numbers(reader.type("manage jobs explain")) == without_numbers(shown)
    [remedy] = re.findall(r"`(manage tenants slots [^`]+)`", README.read_text())
    reader.type(remedy)
    expect(ines.locator("#result table")).to_be_visible(timeout=30_000)

    submit, read, result = re.split(r"^(?=curl)", shell("JOB=$("), flags=re.MULTILINE)  # 4
    job = reader.type(f"{submit}\necho JOB=$JOB")
    wait_until(lambda: '"status": "success"' in reader.type(job + read), "the job of the request ends well")
    assert '"rows"' in reader.type(job + result)

    (startapp, migrations), model, session = FIFTH  # 5
    reader.type(startapp)
    settings = reader.directory / "scheduler_project/settings.py"
    settings.write_text(settings.read_text().replace('    "reports",\n', '    "reports",\n    "shop",\n', 1))
    (reader.directory / "shop/models.py").write_text(model)
    reader.type(migrations)
    reader.press_control_c()
    reader.make_up()
    reader.type("manage shell", given=session)
    listed = "manage jobs list --type shop.salesreport.execute --status"
    wait_until(lambda: "shop.salesreport" in reader.type(f"{listed} success"), "the job of the new app ends well")
    assert reader.type(f"{listed} scheduled").count("shop.salesreport") == 1

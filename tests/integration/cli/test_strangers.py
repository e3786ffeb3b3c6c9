"""A tenant's text on the operator's terminal, in the mail and in the chat."""

import json
from io import BytesIO, StringIO, TextIOWrapper

import pytest
from django.core.management import call_command

from jobs.engine.deaths import channels
from jobs.engine.deaths.notify import Deaths
from jobs.lifecycle import Status
from tests.factories import make_job
from tests.integration.cli import running

pytestmark = pytest.mark.django_db
EVIL = "\x1b]0;pwned\x07\x1b[2J\nforged line\x9b"


@pytest.mark.parametrize("command", [["show"], ["list"], ["explain"], ["show", "--json"], ["list", "--json"]])
def test_no_command_reaches_the_terminal(tenant, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    job = make_job(
        tenant, Status.ERROR, user_key=EVIL[:30], args={EVIL: EVIL}, last_error=f"ValueError: {EVIL}", stats={"a": EVIL}
    )
    name, *options = command
    ids = [] if name == "list" else [str(job.pk)]
    out = StringIO()
    call_command("jobs", name, *ids, *options, stdout=out)
    assert not set(out.getvalue()) & set("\x1b\x07\x9b")
    if name == "list":
        assert "\nforged" not in out.getvalue()


def test_a_mail_and_a_chat_are_told_what_a_terminal_would_obey():
    from datetime import UTC, datetime

    deaths = [Deaths("acme", "a.b.c", "ValueError", 1, 7, f"<!channel> {EVIL}", datetime.now(UTC))]
    text = channels.text(deaths)
    assert "\x1b" not in text
    assert "<!channel>" not in channels.in_chat(text)


def test_at_80_columns_the_call_is_there_with_its_id_and_method(tenant, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    make_job(tenant, source_id="1234567", source_method="execute_with_care")
    make_job(tenant, Status.ERROR, source_id="7654321", last_error="ValueError: " + "no " * 50)
    for words in (["list"], ["list", "--status", "error"]):
        out = StringIO()
        call_command("jobs", *words, stdout=out)
        assert "execute:7654321" in out.getvalue()
        assert max(len(line) for line in out.getvalue().splitlines()) <= 80
    running.run("tenants", "add", "tokyo", "東京ガス株式会社と仲間たち", "--set", 1)
    assert "株式会社と仲間たち  slots " in running.run("audit", "list"), "its letters are two cells wide"
    latin = TextIOWrapper(BytesIO(), "latin-1")
    call_command("audit", "list", "--json", stdout=latin)
    latin.seek(0)
    assert json.loads(latin.read())["changes"][0]["subject"].startswith("limits of 東京"), "by a terminal without them"
    monkeypatch.setenv("COLUMNS", "50")
    assert "WEIGHT" in running.run("tenants", "slots"), "a line goes on below, and no number is cut"
    monkeypatch.delenv("COLUMNS")  # for grep nothing is cut
    assert f"{tenant.slug} " in running.run("jobs", "list")
    assert "execute_with_care:1234567 " in running.run("jobs", "list")


def test_no_line_of_the_log_stands_between_the_tables(tenant, register, capfd):
    register()
    call_command("tenants", "slots", tenant.slug, "--set", "5", stdout=StringIO())
    assert capfd.readouterr().err == ""

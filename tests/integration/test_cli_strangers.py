"""A tenant's text on the operator's terminal, in the mail and in the chat."""

from io import StringIO

import pytest
from django.core.management import call_command

from jobs import notifiers
from jobs.lifecycle import Status
from jobs.store.notices import Deaths
from tests.factories import make_job

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
    text = notifiers.text(deaths)
    assert "\x1b" not in text
    assert "<!channel>" not in notifiers.in_chat(text)

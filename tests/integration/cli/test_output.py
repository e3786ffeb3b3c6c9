"""An output that cannot be written: the status says so, and nothing of the jobs."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from typing import IO

import pytest
from django.core.management import ManagementUtility

from embedded import REPOSITORY
from jobs.management.commands import check_health
from tests.factories import TenantFactory

pytestmark = pytest.mark.django_db(transaction=True)  # a command line closes its connections
COMMANDS = [
    "check_health",
    "check_health --json",
    "jobs list",
    "tenants usage --json",
    "keys list",
    "jobs install --check",
]


@pytest.fixture(params=["closed", "full"])
def unwritable(request) -> tuple[Callable[[], IO[str] | None], str]:
    """A stdout as Python has it, and what the operating system says of it."""
    TenantFactory(slug="acme")
    if request.param == "closed":
        return lambda: None, "stdout is closed"
    return lambda: open("/dev/full", "w", buffering=1 << 16), "No space left on device"  # noqa: PTH123


def ended(command: str, out: IO[str] | None) -> tuple[int, str]:
    """The exit status of a command line, in this process, and what it says on stderr."""
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as end:
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", said := StringIO())
        ManagementUtility(["manage.py", *command.split()]).execute()
    if out:
        out.close()
    return end.value.code, said.getvalue()


def test_is_74_in_one_line(unwritable, monkeypatch, subtests):
    out, why = unwritable
    monkeypatch.setattr(check_health, "conditions", lambda found: [])
    for command in COMMANDS:
        with subtests.test(command):
            assert ended(command, out()) == (74, f"OutputFailed: the output cannot be written: {why}\n")


def test_a_reader_that_has_seen_enough_ends_a_command_in_silence(subtests):
    """As `| head -1` does."""
    TenantFactory(slug="acme")
    for command in ("audit export --format csv", "tenants usage --csv", "jobs list", "keys list --json"):
        with subtests.test(command):
            read, write = os.pipe()
            os.close(read)
            assert ended(command, os.fdopen(write, "w")) == (128 + signal.SIGPIPE, "")


def test_does_not_hide_what_is_critical(unwritable):
    assert ended("check_health", unwritable[0]()) == (1, "CommandError: 1 critical, 0 warnings.\n")


def test_leaves_no_traceback_when_python_ends_nor_where_stderr_is_closed():
    command = f"{sys.executable} manage.py jobs install --check"
    done = subprocess.run(
        f"{command} > /dev/full", shell=True, cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.count("\n")) == (74, 1)
    assert subprocess.run(f"{command} >&- 2>&-", shell=True, cwd=REPOSITORY, check=False).returncode == 74

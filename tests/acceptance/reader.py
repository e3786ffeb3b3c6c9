"""Somebody who has the README, a terminal and a browser."""

import os
import re
import signal
import subprocess
import textwrap
from pathlib import Path

from playwright.sync_api import Browser, Page

from embedded import REPOSITORY, fleet
from tests.pages import blocks
from tests.waiting import wait_until

README = REPOSITORY / "README.md"
TENANT = "Alder & Finch Capital"
STARTED = 240.0  # seconds, on a busy machine: engines, migrations, the first import of everything, all processes


def shell(holding: str) -> str:
    """The one block of shell with this in it."""
    [text] = [textwrap.dedent(block.text) for block in blocks(README, "sh") if holding in block.text]
    return text


class Reader:
    """Types what the README says, in the directory of the project."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.port = fleet.free_port()
        self.key = "not printed yet"
        self._environ = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        self._up: subprocess.Popen[bytes] | None = None

    def make_up(self) -> None:
        """`-o`: all is installed. The port is one that is free now."""
        log = self.directory / "up.log"
        with log.open("wb") as output:
            command = ["make", "-o", ".venv/.installed", "up"]
            environ = self._environ | {"WEB_PORT": str(self.port)}
            self._up = subprocess.Popen(
                command, cwd=self.directory, env=environ, stdout=output, stderr=output, start_new_session=True
            )
        up = self._up
        wait_until(lambda: "Logins" in log.read_text() or up.poll() is not None, "make up is ready", STARTED)
        assert up.poll() is None, log.read_text()
        if key := re.search(rf"{TENANT} +(\w+\.\S+)$", log.read_text(), re.MULTILINE):
            self.key = key[1]

    def press_control_c(self) -> None:
        if self._up is not None:
            os.killpg(self._up.pid, signal.SIGINT)
            self._up.wait(60)
            self._up = None

    def type(self, command: str, given: str | None = None) -> str:
        """In a terminal where the first block has been typed; what it answers."""
        first = shell("manage()").replace(":8000", f":{self.port}").replace("KEY=...", f"KEY={self.key} ")
        script = f"{first}\n{command}"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=self.directory, env=self._environ, input=given or "", capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def log_in(self, browser: Browser, address: str, name: str) -> Page:
        page = browser.new_context(base_url=f"http://127.0.0.1:{self.port}").new_page()
        page.goto(address)
        page.fill("#id_username", name)
        page.fill("#id_password", "demo-only")
        page.press("#id_password", "Enter")
        return page

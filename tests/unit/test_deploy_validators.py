"""What deploy/ holds, as those read it for whom it is written: systemd, Docker Compose, nginx and Caddy."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from embedded import REPOSITORY

DEPLOY = REPOSITORY / "deploy"


def run(*argv: object, home: Path) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(home)}
    return subprocess.run(
        [str(word) for word in argv], env=environ, cwd=home, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze here")
@pytest.mark.parametrize("name", sorted(path.name for path in (DEPLOY / "systemd").glob("*.service")))
def test_systemd_has_nothing_against_a_unit(name: str, tmp_path: Path) -> None:
    text = re.sub(r"/opt/scheduler/\.venv/bin/\w+", "/bin/true", (DEPLOY / "systemd" / name).read_text())
    for unit in {name, name.replace("@", "@default")}:
        (tmp_path / unit).write_text(text)
    done = run("systemd-analyze", "verify", "--man=no", tmp_path / name.replace("@", "@default"), home=tmp_path)
    ours = [line for line in done.stderr.splitlines() if name.partition("@")[0].removesuffix(".service") in line]
    assert not ours, done.stderr


@pytest.fixture
def compose(tmp_path: Path) -> list[str]:
    """Docker Compose, on a filled-in copy of what it reads; it needs no daemon for that."""
    shutil.copy(DEPLOY / "compose.yaml", tmp_path)
    example = (DEPLOY / ".env.example").read_text()
    (tmp_path / ".env").write_text(re.sub(r"^(\w+_PASSWORD)=$", r"\1=secret", example, flags=re.MULTILINE))
    program = Path(sys.executable).with_name("docker-compose")
    return [str(program), "--file", str(tmp_path / "compose.yaml"), "config", "--quiet"]


def test_compose_has_nothing_against_its_file(compose: list[str], tmp_path: Path) -> None:
    done = run(*compose, home=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["POSTGRES_PASSWORD", "VALKEY_PASSWORD"])
def test_compose_names_the_password_that_is_missing(compose: list[str], tmp_path: Path, name: str) -> None:
    environ = tmp_path / ".env"
    environ.write_text(environ.read_text().replace(f"{name}=secret", f"{name}="))
    done = run(*compose, home=tmp_path)
    assert done.returncode != 0
    assert f"{name} is missing a value: set it in deploy/.env" in done.stderr


@pytest.mark.skipif(shutil.which("nginx") is None or shutil.which("openssl") is None, reason="no nginx or openssl here")
@pytest.mark.parametrize("example", ["nginx.conf", "nginx-cells.conf"])
def test_nginx_has_nothing_against_its_example(tmp_path: Path, example: str) -> None:
    make = "openssl req -x509 -newkey rsa:2048 -nodes -keyout privkey.pem -out fullchain.pem -days 1 -subj /CN=x"
    assert run(*make.split(), home=tmp_path).returncode == 0
    text = (DEPLOY / example).read_text().replace("/etc/ssl/scheduler", str(tmp_path))
    (tmp_path / "nginx.conf").write_text(f"events {{}}\nhttp {{\n{text}\n}}")
    done = run("nginx", "-t", "-c", tmp_path / "nginx.conf", home=tmp_path)
    assert "syntax is ok" in done.stderr, done.stderr
    assert "[warn]" not in done.stderr, done.stderr


@pytest.mark.skipif(shutil.which("caddy") is None, reason="no caddy here")
def test_caddy_has_nothing_against_its_example(tmp_path: Path) -> None:
    done = run("caddy", "validate", "--adapter", "caddyfile", "--config", DEPLOY / "Caddyfile", home=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "Valid configuration"), done.stderr
    assert run("caddy", "fmt", DEPLOY / "Caddyfile", home=tmp_path).stdout == (DEPLOY / "Caddyfile").read_text()

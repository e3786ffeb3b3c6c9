"""The workflows of GitHub run what the repository has."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from embedded import REPOSITORY

HERE = REPOSITORY / ".github" / "workflows"
TEXTS = {path.name: path.read_text() for path in HERE.glob("*.yml")}
CI, RELEASE = (yaml.safe_load(TEXTS[name]) for name in ("ci.yml", "release.yml"))
MAKEFILE = (REPOSITORY / "Makefile").read_text()
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
EVERY = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)


@EVERY
def test_every_job_ends_and_has_no_more_rights_than_it_needs(text):
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert "uses" in job or job["timeout-minutes"] <= 90, name
    assert text.count(": write") == {"CI": 0, "Release": 6}[workflow["name"]]


@EVERY
def test_no_command_contains_what_somebody_else_may_have_written(text):
    for job in yaml.safe_load(text)["jobs"].values():
        for step in job.get("steps", []):
            assert "${{" not in step.get("run", ""), step


@EVERY
def test_every_target_and_file_that_is_named_exists(text):
    for target in re.findall(r"make ([a-z0-9-]+)$", text, re.MULTILINE):
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target
    for path in re.findall(r"(?:file:|--file) (\S+)|uses: \./(\S+)", text):
        assert (REPOSITORY / "".join(path)).exists(), path


def test_every_supported_postgresql_and_both_brokers_are_tried():
    matrix = CI["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["postgresql"] == ["15", "16", "17", "18"]
    assert {(one["postgresql"], one["broker"]) for one in matrix["include"]} == {("15", "rabbitmq"), ("18", "rabbitmq")}
    run = (REPOSITORY / ".ci/run").read_text()
    done = {step.get("run") for job in CI["jobs"].values() for step in job["steps"]}
    assert {"make lint", "make test", "make test-oldest"} <= done
    assert {"make parts &", "make lint", "make docs", "make test-15", "make test ALL=1"} <= set(
        map(str.strip, run.splitlines())
    )
    [tests] = [step for step in CI["jobs"]["test"]["steps"] if step.get("run") == "make test"]
    assert tests["env"]["THOROUGH"] == "1", "which means ALL"


@pytest.mark.parametrize(
    ("asked", "short"), [([], True), (["ALL=1"], False), (["THOROUGH=1"], False), (["ARGS=tests/unit"], False)], ids=str
)
def test_the_long_tests_are_left_out_only_where_nobody_asks_for_more(asked, short):
    ours = ("ALL", "THOROUGH", "ARGS", "MAKEFLAGS", "MAKEOVERRIDES")  # of the make that runs this test
    environ = {name: value for name, value in os.environ.items() if name not in ours}
    argv = ["make", "--dry-run", *asked, "test"]
    done = subprocess.run(argv, cwd=REPOSITORY, env=environ, capture_output=True, text=True, check=True).stdout
    assert ("-m 'not long'" in done) == short


def test_the_python_is_the_oldest_that_is_supported():
    oldest = PROJECT["requires-python"].removeprefix(">=")
    image = CI["jobs"]["lint"]["container"]
    assert image == CI["jobs"]["test"]["container"]["image"]
    assert image.startswith(f"python:{oldest}-")
    [setup] = [step for step in CI["jobs"]["wheel"]["steps"] if "python-version" in step.get("with", {})]
    assert setup["with"]["python-version"] == oldest


def test_the_walk_through_the_page_is_made_with_newer_pythons_and_the_newest_django():
    job = CI["jobs"]["own-project"]
    newest = max(one.rpartition(" ")[2] for one in PROJECT["classifiers"] if one.startswith("Framework :: Django ::"))
    assert job["strategy"]["matrix"]["python"] == ["3.13", "3.14"]
    [walk] = [step for step in job["steps"] if "make test" in step.get("run", "")]
    assert walk["env"] == {"THOROUGH": "1", "OWN_PROJECT_ON": f"${{{{ matrix.python }}}} {newest}"}
    for path in re.findall(r"ARGS=(\S+)", TEXTS["ci.yml"]):
        assert (REPOSITORY / path).exists()


def test_git_may_read_the_files_where_root_runs_the_tests():
    """They belong to another user there; without that, `git ls-files` fails."""
    for job in CI["jobs"].values():
        runs = [step.get("run", "") for step in job["steps"]]
        if "container" in job and any("make test" in run for run in runs):
            assert 'git config --global --add safe.directory "$GITHUB_WORKSPACE"' in runs


def test_a_release_is_made_only_of_what_passed():
    assert RELEASE["jobs"]["ci"]["uses"] == "./.github/workflows/ci.yml"
    assert RELEASE["jobs"]["ci"]["needs"] == "version"
    assert RELEASE["jobs"]["image"]["needs"] == RELEASE["jobs"]["packages"]["needs"] == "ci"
    assert set(RELEASE["jobs"]["release"]["needs"]) == {"packages", "image"}
    assert 'version = "' + PROJECT["version"] + '"' in (REPOSITORY / "pyproject.toml").read_text().splitlines()


def test_a_release_has_a_page_of_its_own_and_without_it_there_is_none(tmp_path):
    [step] = [one for one in RELEASE["jobs"]["version"]["steps"] if "docs/releases" in one.get("run", "")]
    (tmp_path / "pyproject.toml").write_text('version = "0.2.0"\n')
    pages = tmp_path / "docs/releases"
    pages.mkdir(parents=True)
    environ = {"TAG": "v0.2.0", "PATH": "/usr/bin:/bin"}
    argv = ["bash", "-e", "-c", step["run"]]
    assert subprocess.run(argv, cwd=tmp_path, env=environ, check=False, stderr=subprocess.DEVNULL).returncode
    (pages / "0.2.0.md").write_text("# 0.2.0\n")
    subprocess.run(argv, cwd=tmp_path, env=environ, check=True)
    assert (REPOSITORY / f"docs/releases/{PROJECT['version']}.md").exists()


def test_every_page_of_a_release_is_listed_in_the_changelog_and_short():
    changelog = (REPOSITORY / "CHANGELOG.md").read_text()
    for page in (REPOSITORY / "docs/releases").glob("*.md"):
        assert f"[{page.stem}](docs/releases/{page.name})" in changelog
        assert len(page.read_text().splitlines()) <= 150, page


def test_actionlint_finds_nothing():
    actionlint = Path(sys.executable).with_name("actionlint")
    done = subprocess.run([actionlint], cwd=REPOSITORY, capture_output=True, check=False, timeout=60, text=True)
    assert done.stdout + done.stderr == ""

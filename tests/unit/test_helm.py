"""The chart renders what Kubernetes accepts, refuses values that are wrong by their name, and makes the manifests."""

import json
import re
from functools import cache
from typing import Any

import jsonschema_rs
import pytest
import yaml

from embedded import REPOSITORY
from tests.pages import table
from tools import helm, manifests
from tools.manifests import CHART, template

EXAMPLE = CHART.parent / "example.yaml"
VALUES = (CHART / "values.yaml").read_text()
SCHEMA = json.loads((CHART / "values.schema.json").read_text())
WITHOUT_SCHEMA = {"ServiceMonitor", "ScaledObject"}  # of operators
EVERYTHING = """
image: {repository: registry.example.com/scheduler, tag: V2.0_rc, pullSecrets: [private]}
settings: {ALLOWED_HOSTS: a.example, FORWARDED_ALLOW_IPS: 10.0.0.0/8, JOBS_DEAD_TTL: "2592000", DEBUG: "false"}
secret: other
files: {postgres-ca: /etc/scheduler/postgres}
serviceAccount: {create: true, annotations: {eks.amazonaws.com/role-arn: "arn:aws:iam::1:role/scheduler"}}
podLabels: {team: "1"}
podAnnotations: {a.example/b: "true"}
pod: {priorityClassName: high, nodeSelector: {disk: fast}, tolerations: [{key: jobs, operator: Exists}]}
migrate: {pod: {nodeSelector: {disk: slow}}}
web: {processes: 4, autoscaling: {enabled: true, max: 9}}
worker: {replicas: 3}
pools:
  default: {}
  heavy:
    {pool: Heavy_1, concurrency: 2, stopSeconds: 3900, keda: {enabled: true, threshold: 64},
     resources: {limits: {memory: 9Gi}}}
ingress: {enabled: true, className: nginx, host: jobs.example.com, tlsSecret: tls, annotations: {a.example/c: 3m}}
networkPolicy: {enabled: true}
serviceMonitor: {enabled: true, labels: {release: prometheus}}
"""
WRONG = {
    "image.repository=": "/image/repository",
    "image.digest=sha256:12": "/image/digest",
    "web.replicas=none": "/web/replicas",
    "web.replica=3": "replica",
    "settings.DATABASE_URL=postgres://": "settings.DATABASE_URL is a secret",
    "settings.ALLOWED_HOSTS=null": "ALLOWED_HOSTS",
    "settings.JOBS_DEAD_TTL=5": "/settings/JOBS_DEAD_TTL",
    "pools.Heavy_1.concurrency=2": "Heavy_1",
    "pools.heavy.concurrency=0": "/pools/heavy/concurrency",
    "pools.default=null": "/pools",
    "worker.resources.limits.memory=4GB": "/worker/resources/limits/memory",
    "pod.hostNetwork=true": "hostNetwork",
    "networkPolicy.ingress[0].namespace=x": "/networkPolicy/ingress/0",
}
needs_helm = pytest.mark.skipif(manifests.helm() is None, reason="no helm here, and `make helm` could not install it")


def rendered(values: str = "", *options: str, tmp_path: Any) -> list[dict[str, Any]]:
    (tmp_path / "values.yaml").write_text(values)
    done = template("--namespace", "jobs", "--values", EXAMPLE, "--values", tmp_path / "values.yaml", *options)
    assert (done.returncode, done.stderr) == (0, "")
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def found(objects: list[dict[str, Any]], kind: str, end: str = "") -> dict[str, Any]:
    [one] = [one for one in objects if one["kind"] == kind and one["metadata"]["name"].endswith(end)]
    return one


@needs_helm
def test_the_manifests_are_those_that_the_chart_renders(subtests):
    for name in manifests.FILES:
        with subtests.test(name):
            assert (manifests.FOLDER / name).read_text() == manifests.manifest(name), "make manifests"


@needs_helm
@pytest.mark.skipif(not helm.schema("1.37").exists(), reason="no schemas here, and `make helm` could not install them")
def test_kubernetes_of_three_versions_accepts_what_the_chart_renders_and_helm_has_nothing_against_it(
    subtests, tmp_path
):
    (tmp_path / "everything.yaml").write_text(EVERYTHING)
    for values in (EXAMPLE, tmp_path / "everything.yaml"):
        done = manifests.run("lint", "--strict", CHART, "--values", values)
        assert done.returncode == 0, done.stdout
    kinds = set()
    for values in ("", EVERYTHING, "worker: {keda: {enabled: true}}\nserviceMonitor: {enabled: true}"):
        for one in rendered(values, tmp_path=tmp_path):
            kinds.add(one["kind"])
            with subtests.test(one["kind"] + " " + one["metadata"]["name"]):
                check(one)
    assert kinds >= {"Job", "HorizontalPodAutoscaler", "NetworkPolicy", "Ingress", "ServiceAccount", *WITHOUT_SCHEMA}
    for name in manifests.FILES:
        for one in yaml.safe_load_all((manifests.FOLDER / name).read_text()):
            with subtests.test(name):
                check(one)


@cache
def validator(version: str, api: str, kind: str) -> jsonschema_rs.Validator:
    schemas = json.loads(helm.schema(version).read_text())
    group, _, number = api.rpartition("/")
    described = {"group": group, "version": number, "kind": kind}
    [name] = [one for one, of in schemas["$defs"].items() if described in of.get("x-kubernetes-group-version-kind", [])]
    return jsonschema_rs.validator_for({"$defs": schemas["$defs"], "$ref": f"#/$defs/{name}"})


def check(one: dict[str, Any]) -> None:
    if one["kind"] not in WITHOUT_SCHEMA:
        for version in helm.VERSIONS:
            validator(version, one["apiVersion"], one["kind"]).validate(one)


@needs_helm
def test_a_wrong_value_is_refused_by_its_name(subtests):
    for value, name in WRONG.items():
        with subtests.test(value):
            done = template("--values", EXAMPLE, "--set", value)
            assert done.returncode != 0
            assert name in done.stderr
    with subtests.test("nothing is given"):
        assert all(name in template().stderr for name in ("repository", "ALLOWED_HOSTS", "FORWARDED_ALLOW_IPS"))


@needs_helm
def test_values_reach_the_objects(tmp_path):
    objects = rendered(EVERYTHING, tmp_path=tmp_path)
    web, heavy = found(objects, "Deployment", "-web")["spec"], found(objects, "Deployment", "-heavy")["spec"]
    assert "replicas" not in web  # or each upgrade would undo the scaling
    assert "replicas" not in heavy
    assert found(objects, "Deployment", "-worker-default")["spec"]["replicas"] == 3
    for one in (one["spec"]["template"] for one in objects if one["kind"] in ("Deployment", "Job")):
        spec, [container] = one["spec"], one["spec"]["containers"]
        assert (spec["serviceAccountName"], spec["priorityClassName"]) == ("scheduler", "high")
        assert container["image"] == "registry.example.com/scheduler:V2.0_rc"
        assert container["envFrom"][1] == {"secretRef": {"name": "other"}}
        assert container["volumeMounts"][1]["mountPath"] == "/etc/scheduler/postgres"
        assert spec["volumes"][1]["secret"] == {"secretName": "postgres-ca"}
        assert one["metadata"]["labels"]["team"] == "1"
        disk = "slow" if one["metadata"]["labels"]["part"] == "migrate" else "fast"
        assert spec["nodeSelector"] == {"disk": disk}
    worker = heavy["template"]["spec"]["containers"][0]
    assert {"--queues=Heavy_1", "--hostname=heavy@%h"} <= set(worker["args"])
    assert worker["resources"] == {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "9Gi"}}
    assert heavy["template"]["spec"]["terminationGracePeriodSeconds"] == 3900
    [trigger] = found(objects, "ScaledObject")["spec"]["triggers"]
    assert trigger["metadata"]["query"] == 'max(scheduler_pool_demand{pool="Heavy_1"})'
    assert trigger["metadata"]["threshold"] == "64"
    assert found(objects, "ConfigMap")["data"]["JOBS_DEAD_TTL"] == "2592000"
    monitor = found(objects, "ServiceMonitor")
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    service = found(objects, "Service")
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()


@needs_helm
def test_a_release_has_a_job_of_its_own_and_a_changed_setting_replaces_the_pods(tmp_path):
    first, same = (rendered(tmp_path=tmp_path) for _ in range(2))
    assert first == same
    assert re.fullmatch(r"scheduler-migrate-0-1-0-[0-9a-f]{6}", found(first, "Job")["metadata"]["name"])
    release = rendered("image: {tag: 0.2.0}", tmp_path=tmp_path)
    setting = rendered('settings: {JOBS_DEAD_TTL: "5"}', tmp_path=tmp_path)
    names = [found(objects, "Job")["metadata"]["name"] for objects in (first, release, setting)]
    assert len(set(names)) == 3
    pods = [found(objects, "Deployment", "-web")["spec"]["template"]["metadata"] for objects in (first, setting)]
    assert pods[0] != pods[1]


@needs_helm
def test_the_smoke_test_asks_the_service_and_the_policy_lets_it(tmp_path):
    objects = rendered(tmp_path=tmp_path)
    pod = found(objects, "Pod", "-test")
    assert pod["metadata"]["annotations"]["helm.sh/hook"] == "test"
    assert f"http://{found(objects, 'Service')['metadata']['name']}/readyz" in pod["spec"]["containers"][0]["args"][-1]
    [rule] = found(objects, "NetworkPolicy", "-web")["spec"]["ingress"]
    assert {"podSelector": {"matchLabels": pod["metadata"]["labels"]}} in rule["from"]
    closed = found(objects, "NetworkPolicy", "scheduler")["spec"]
    assert "ingress" not in closed
    for one in objects:
        labels = one["spec"]["template"]["metadata"]["labels"] if one["kind"] in ("Deployment", "Job") else {}
        assert not labels or closed["podSelector"]["matchLabels"].items() <= labels.items()


def leaves(values: dict[str, Any], schema: dict[str, Any], at: str = "") -> None:
    """Every value is in the schema, and every property of the schema in values.yaml, set or as a comment."""
    schema = SCHEMA["definitions"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    if schema.get("additionalProperties") is False and "patternProperties" not in schema:
        assert set(values) <= set(schema["properties"]), at
        for name, part in schema["properties"].items():
            assert name in values or re.search(rf"^ *#.*\b{name}\b", VALUES, re.MULTILINE) or name == "global", at
            if isinstance(values.get(name), dict):
                leaves(values[name], part, f"{at}.{name}")


def test_values_yaml_and_its_schema_name_the_same_values_and_so_does_the_readme():
    values = yaml.safe_load(VALUES)
    leaves(values, SCHEMA)
    for told, *_ in table(REPOSITORY / "deploy/README.md", "value", "default", "meaning"):
        for path in re.findall(r"`([a-zA-Z.]+)`", told):
            there = values
            for part in path.split("."):
                assert part in there or re.search(rf"^ +# {part}:", VALUES, re.MULTILINE), path
                there = there.get(part, {})


def test_the_chart_is_of_this_release():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    [version] = re.findall(r'^version = "(.+)"', (REPOSITORY / "pyproject.toml").read_text(), re.MULTILINE)
    assert chart["appVersion"] == version
    [image] = yaml.safe_load((manifests.FOLDER / "config/kustomization.yaml").read_text())["images"]
    assert image["newTag"] == version

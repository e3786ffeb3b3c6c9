"""Write the manifests for kustomize, which the chart renders: `make manifests`."""

import re
import shutil
import subprocess
import sys

from embedded import REPOSITORY
from tools.helm import HELM

CHART = REPOSITORY / "deploy/helm/scheduler"
FOLDER = REPOSITORY / "deploy/kubernetes"
HEAD = "# Made of deploy/helm/scheduler by `make manifests`: change it there.\n"
# By file: the template, and what is switched on for it.
FILES = {
    "migrate/job.yaml": ("migrate",),
    "run/web.yaml": ("web",),
    "run/worker-default.yaml": ("worker",),
    "keda/worker-default.yaml": ("keda", "worker.keda.enabled=true"),
    "monitoring/service-monitor.yaml": ("monitoring", "serviceMonitor.enabled=true"),
    "network/policies.yaml": ("network", "networkPolicy.enabled=true"),
}


def helm() -> str | None:
    """The helm that the tests install, or else this machine's; None if there is none."""
    return str(HELM) if HELM.exists() else shutil.which("helm")


def run(*words: object) -> subprocess.CompletedProcess[str]:
    """Run helm with these words."""
    argv = [helm() or "helm", *map(str, words)]
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)


def template(*options: object) -> subprocess.CompletedProcess[str]:
    """Render the chart with these options of `helm template`."""
    return run("template", "scheduler", CHART, *options)


def manifest(name: str) -> str:
    """The text of one of FILES. Raises CalledProcessError with what helm says."""
    source, *switched_on = FILES[name]
    options = [word for value in switched_on for word in ("--set", value)]
    done = template("--values", FOLDER / "values.yaml", "--show-only", f"templates/{source}.yaml", *options)
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, done.args, stderr=done.stderr)
    objects = [text.strip() for text in re.split(r"^---\n# Source: .*\n", done.stdout, flags=re.MULTILINE)[1:]]
    objects.sort(key=lambda text: "kind: Deployment\n" not in text)  # helm has it last
    return HEAD + "\n---\n".join(objects) + "\n"


def main() -> None:
    if helm() is None:
        sys.exit("helm is needed: `make helm` installs it on Linux, for x86-64.")
    try:
        texts = {name: manifest(name) for name in FILES}
    except subprocess.CalledProcessError as error:
        sys.exit(error.stderr)
    for name, text in texts.items():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    main()

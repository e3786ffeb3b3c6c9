"""Clients of the API that two generators make of its OpenAPI document."""

import importlib
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openapi_python_client
import pytest
from ninja.responses import NinjaJSONEncoder
from openapi_python_client.config import Config, ConfigFile, MetaType

from jobs.api import api
from tests.acceptance.installing import run

Call = Callable[..., Any]
HERE = Path(__file__).parent


def document() -> dict[str, Any]:
    """The OpenAPI document, as a client reads it."""
    return json.loads(json.dumps(api.get_openapi_schema(path_prefix="/api/v1/"), cls=NinjaJSONEncoder))


@contextmanager
def python_client(directory: Path, name: str, url: str, key: str, **httpx: Any) -> Iterator[tuple[Call, Any]]:
    """A function that calls an operation by the client that openapi-python-client makes; and the client's models.

    name: of the package of this client, since Python imports a name once.
    """
    (directory / "openapi.json").write_text(json.dumps(document()))
    file = ConfigFile(package_name_override=name, post_hooks=[])
    config = Config.from_sources(file, MetaType.NONE, directory / "openapi.json", "utf-8", True, directory / name)
    assert openapi_python_client.generate(config=config) == []
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(directory)
        with importlib.import_module(name).AuthenticatedClient(url, key, httpx_args=httpx) as client:

            def call(operation: str, *args: Any, **options: Any) -> Any:
                return importlib.import_module(f"{name}.api.jobs.{operation}").sync(*args, client=client, **options)

            yield call, importlib.import_module(f"{name}.models")


def typescript_client(directory: Path) -> Callable[[str, str], Any]:
    """A function that runs client.ts against an address, with a key, on the types of openapi-typescript."""
    if (npm := shutil.which("npm")) is None:
        pytest.skip("no npm on this machine, which installs the generator and the compiler: apt-get install npm")
    for file in ("package.json", "package-lock.json", "tsconfig.json", "client.ts"):
        shutil.copy(HERE / file, directory)
    (directory / "openapi.json").write_text(json.dumps(document()))
    run([npm, "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"], directory)
    programs = directory / "node_modules/.bin"
    run([programs / "openapi-typescript", "openapi.json", "-o", "schema.d.ts"], directory)
    run([programs / "tsc"], directory)
    return lambda url, key: json.loads(run(["node", "client.js", url, key], directory))

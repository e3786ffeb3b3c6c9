"""The parts that other apps add to the product. Each registers in its `AppConfig.ready`: the product works without any.

`jobs.insight` is such an app: docs/adr/0043-insight-apart.md.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Parts = Callable[[], Sequence[Any]]


@dataclass(frozen=True)
class Extension:
    """The parts that an app adds. Each is asked for when it is needed, since it imports much.

    duties: of the leading clock (`jobs.worker.clock.duties.Duty`)
    routers: of the operators' API
    pages: addresses below those of the operators' pages
    subcommands: of `manage.py jobs`
    """

    duties: Parts
    routers: Parts
    pages: Parts
    subcommands: Parts


_extensions: list[Extension] = []


def register(extension: Extension) -> None:
    _extensions.append(extension)


def duties() -> Iterator[Any]:
    return (duty for extension in _extensions for duty in extension.duties())


def routers() -> Iterator[Any]:
    return (router for extension in _extensions for router in extension.routers())


def pages() -> Iterator[Any]:
    return (page for extension in _extensions for page in extension.pages())


def subcommands() -> Iterator[Any]:
    return (subcommand for extension in _extensions for subcommand in extension.subcommands())

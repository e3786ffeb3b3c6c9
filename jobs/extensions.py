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
    return (duty for one in _extensions for duty in one.duties())


def routers() -> Iterator[Any]:
    return (router for one in _extensions for router in one.routers())


def pages() -> Iterator[Any]:
    return (page for one in _extensions for page in one.pages())


def subcommands() -> Iterator[Any]:
    return (subcommand for one in _extensions for subcommand in one.subcommands())

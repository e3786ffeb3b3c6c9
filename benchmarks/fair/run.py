"""Play one scenario with one queue, on a fresh database."""

import importlib
import tempfile
import time
import traceback
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .bell import Bell
from .engines import DSN, REDIS_URL, Engines
from .peers import NotOffered, Peer, PeerError
from .scene import Figures, Scene


@dataclass
class Outcome:
    """What became of one scenario with one queue.

    seconds: that it took, with the setup.
    failed: why there are no figures.
    not_offered: whether that is because the queue has no such verb.
    about: what its adapter says of itself.
    """

    peer: str
    scenario: str
    seconds: float = 0.0
    figures: Figures = field(default_factory=dict)
    failed: str = ""
    not_offered: bool = False
    about: dict[str, Any] = field(default_factory=dict)

    def told(self) -> dict[str, Any]:
        """As it stands in the results."""
        told = asdict(self)
        del told["about"]
        return told


def play(
    peer: str, python: Path, scenario: str, engines: Engines, logs: Path | None, *, scale: float, long: bool
) -> Outcome:
    """Play it. logs: where the logs of its processes stay; None: they are removed."""
    outcome, since = Outcome(peer, scenario), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fair-") as throwaway, engines.fresh(f"fair_{peer}_{scenario}") as urls:
        directory = Path(throwaway) if logs is None else logs / f"{peer}-{scenario}"
        directory.mkdir(parents=True, exist_ok=True)
        try:
            with Bell() as bell:
                environ = {DSN: urls["postgresql"], REDIS_URL: urls["redis"], "BELL": bell.address}
                host = Peer(peer, python, environ, directory)
                outcome.about = host.about
                scene = Scene(host, bell, engines, urls, scale=scale, long=long)
                try:
                    outcome.figures = importlib.import_module(f".scenarios.{scenario}", __package__).play(scene)
                    outcome.figures["setup_s"] = scene.setup_seconds
                finally:
                    scene.close()
        except PeerError as error:
            outcome.failed, outcome.not_offered = str(error), isinstance(error, NotOffered)
        except Exception as error:  # one queue must not end the run of the others
            traceback.print_exc()
            outcome.failed = f"{type(error).__name__}: {error}"
    outcome.seconds = round(time.monotonic() - since, 1)
    return outcome

"""One row: `python -m benchmarks.row NAME OUTPUT`, started by `benchmarks.run` with the URLs in the environment."""

import importlib
import json
import logging
import sys
from pathlib import Path

import django

from benchmarks import bells, tables
from benchmarks.bars import Bar, Figures


def main(name: str, output: str) -> int:
    """Measure on an empty database; print the figures and the verdicts, and write them to `output`."""
    directory = Path(output).with_suffix("")  # for the bell and the logs; removed with the engines' data
    directory.mkdir()
    with bells.tower(directory):
        django.setup()
        logging.disable()
        import scheduler_project.celery  # noqa: F401  # the app that carries messages
        from benchmarks import databases

        row = importlib.import_module(f"benchmarks.rows.{name}")
        databases.empty()
        figures: Figures = row.measure(directory)
    bars: list[Bar] = row.BARS
    verdicts = [bar.verdict(figures) for bar in bars]
    tables.show(figures, verdicts)
    Path(output).write_text(json.dumps({"figures": figures, "bars": verdicts}))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

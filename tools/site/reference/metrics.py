"""Every metric, as the collectors declare it."""

import ast
import inspect

from jobs.contrib.metrics import collector, tenants
from tools.site.reference.cells import code, table

FAMILIES = {"gauge": "gauge", "alone": "gauge", "CounterMetricFamily": "counter", "HistogramMetricFamily": "histogram"}


def families() -> list[tuple[str, str, str, str]]:
    """Name, kind, labels and text of each."""
    rows = []
    for call in ast.walk(ast.parse(inspect.getsource(collector))):
        kind = FAMILIES.get(getattr(getattr(call, "func", None), "id", ""))
        if not (isinstance(call, ast.Call) and kind and isinstance(call.args[0], ast.Constant)):
            continue
        labelled = [call.args[2]] if ast.unparse(call.func) == "gauge" else [keyword.value for keyword in call.keywords]
        name = str(call.args[0].value).removeprefix("scheduler_")
        ending = "_total" if kind == "counter" else ""
        text = str(ast.literal_eval(call.args[1]))
        rows.append(
            (
                f"scheduler_{name}{ending}",
                kind,
                ", ".join(name for names in labelled for name in ast.literal_eval(names)),
                text,
            )
        )
    of_tenants = [(f"scheduler_tenant_{name}", "gauge", "tenant", text) for name, text in tenants.GAUGES.items()]
    return sorted(rows) + of_tenants


def part() -> str:
    rows = [(code(name), kind, labels, text) for name, kind, labels, text in families()]
    return table(("metric", "kind", "labels", "meaning"), rows)

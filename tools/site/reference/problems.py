"""Every code of a problem of the HTTP API: its status, and what it means."""

from jobs.http.codes import ProblemCode
from tools.site.reference.cells import code, table


def part() -> str:
    return table(("code", "status", "meaning"), [(code(one), str(one.status), one.meaning) for one in ProblemCode])

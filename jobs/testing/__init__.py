"""Test code that submits jobs: `from jobs.testing import drain, run, assert_submitted, freeze_time, fail_next`.

No worker, no broker and no waiting: the jobs run in the test's own process and, in a TestCase, in its transaction.
docs/testing.md is the guide.
"""

from typing import TYPE_CHECKING

from jobs.lazily import lazily

if TYPE_CHECKING:
    from jobs.testing.assertions import assert_not_submitted, assert_submitted, submitted
    from jobs.testing.attempt import Attempt
    from jobs.testing.cases import JobAssertions
    from jobs.testing.failures import fail_next
    from jobs.testing.running import drain, run
    from jobs.testing.time import FrozenTime, freeze_time

__all__ = [
    "Attempt",
    "FrozenTime",
    "JobAssertions",
    "assert_not_submitted",
    "assert_submitted",
    "drain",
    "fail_next",
    "freeze_time",
    "run",
    "submitted",
]

_HOMES = {
    "Attempt": "jobs.testing.attempt",
    "FrozenTime": "jobs.testing.time",
    "JobAssertions": "jobs.testing.cases",
    "assert_not_submitted": "jobs.testing.assertions",
    "assert_submitted": "jobs.testing.assertions",
    "drain": "jobs.testing.running",
    "fail_next": "jobs.testing.failures",
    "freeze_time": "jobs.testing.time",
    "run": "jobs.testing.running",
    "submitted": "jobs.testing.assertions",
}

# pytest imports the plugin before Django has set up its apps.
__getattr__ = lazily(__name__, _HOMES)

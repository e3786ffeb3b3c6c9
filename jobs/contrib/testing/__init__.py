"""Test code that submits jobs: `from jobs.contrib.testing import drain, run, assert_submitted, freeze_time, fail_next`.

No worker, no broker and no waiting: the jobs run in the test's own process and, in a TestCase, in its transaction.
docs/testing.md is the guide.
"""

from typing import TYPE_CHECKING

from jobs import lazily

if TYPE_CHECKING:
    from jobs.contrib.testing.assertions import assert_not_submitted, assert_submitted, submitted
    from jobs.contrib.testing.attempt import Attempt
    from jobs.contrib.testing.cases import JobAssertions
    from jobs.contrib.testing.failures import fail_next
    from jobs.contrib.testing.running import drain, run
    from jobs.contrib.testing.time import FrozenTime, freeze_time

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
    "Attempt": "jobs.contrib.testing.attempt",
    "FrozenTime": "jobs.contrib.testing.time",
    "JobAssertions": "jobs.contrib.testing.cases",
    "assert_not_submitted": "jobs.contrib.testing.assertions",
    "assert_submitted": "jobs.contrib.testing.assertions",
    "drain": "jobs.contrib.testing.running",
    "fail_next": "jobs.contrib.testing.failures",
    "freeze_time": "jobs.contrib.testing.time",
    "run": "jobs.contrib.testing.running",
    "submitted": "jobs.contrib.testing.assertions",
}

# pytest imports the plugin before Django has set up its apps.
__getattr__ = lazily(__name__, _HOMES)

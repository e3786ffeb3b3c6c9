"""Test code that submits jobs: `from jobs.contrib.testing import drain, run, assert_submitted, freeze_time, fail_next`.

Tests need no worker, no broker and no waiting. Jobs run in the test's own process; in a TestCase, in its transaction.
docs/testing.md is the guide.
"""

from typing import TYPE_CHECKING

from jobs import lazily

if TYPE_CHECKING:
    from jobs.contrib.testing.assertions import assert_not_submitted, assert_submitted, submitted
    from jobs.contrib.testing.attempt import Attempt
    from jobs.contrib.testing.cases import JobAssertions
    from jobs.contrib.testing.failures import fail_next
    from jobs.contrib.testing.hand_backs import hand_back_next
    from jobs.contrib.testing.running import drain, run
    from jobs.contrib.testing.time import FrozenTime, freeze_time
    from jobs.contrib.testing.webhooks import webhook_messages

__all__ = [
    "Attempt",
    "FrozenTime",
    "JobAssertions",
    "assert_not_submitted",
    "assert_submitted",
    "drain",
    "fail_next",
    "freeze_time",
    "hand_back_next",
    "run",
    "submitted",
    "webhook_messages",
]

_NAMES = {
    "jobs.contrib.testing.assertions": ("assert_not_submitted", "assert_submitted", "submitted"),
    "jobs.contrib.testing.attempt": ("Attempt",),
    "jobs.contrib.testing.cases": ("JobAssertions",),
    "jobs.contrib.testing.failures": ("fail_next",),
    "jobs.contrib.testing.hand_backs": ("hand_back_next",),
    "jobs.contrib.testing.running": ("drain", "run"),
    "jobs.contrib.testing.time": ("FrozenTime", "freeze_time"),
    "jobs.contrib.testing.webhooks": ("webhook_messages",),
}

# pytest imports the plugin before Django has set up its apps.
__getattr__ = lazily(__name__, _NAMES)

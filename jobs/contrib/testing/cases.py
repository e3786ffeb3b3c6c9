"""The helpers as methods, for TestCase classes."""

from jobs.contrib.testing.assertions import assert_not_submitted, assert_submitted, submitted
from jobs.contrib.testing.failures import fail_next
from jobs.contrib.testing.hand_backs import hand_back_next
from jobs.contrib.testing.running import drain, run
from jobs.contrib.testing.time import following, freeze_time


class JobAssertions:
    """Mix into a Django TestCase or TransactionTestCase. Each method is a function of `jobs.contrib.testing`.

    Jobs in its tests take the time from `timezone.now()`, which any library may freeze.
    """

    @classmethod
    def setUpClass(cls) -> None:
        cls.enterClassContext(following())  # type: ignore[attr-defined]
        super().setUpClass()  # type: ignore[misc]

    drain_jobs = staticmethod(drain)
    run_job = staticmethod(run)
    submitted_jobs = staticmethod(submitted)
    assertSubmitted = staticmethod(assert_submitted)
    assertNotSubmitted = staticmethod(assert_not_submitted)
    fail_next = staticmethod(fail_next)
    hand_back_next = staticmethod(hand_back_next)
    freeze_time = staticmethod(freeze_time)

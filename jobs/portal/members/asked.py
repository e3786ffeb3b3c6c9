"""What a member asks of the list: the address of the page."""

from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlencode

from django.db.models import Q
from django.http import HttpRequest

from jobs.lifecycle import Status
from jobs.pages.typed import number
from jobs.reading.listing import Sought
from jobs.reading.status_words import WORDS
from tenants.models import Tenant


@dataclass(frozen=True)
class Asked:
    """status: only these; None: all. mine: only those of the member. before: only lower ids; None: from the newest.
    batch: only its jobs.
    """

    status: Status | None
    mine: bool
    before: int | None
    batch: int | None = None

    @classmethod
    def of(cls, request: HttpRequest) -> Self:
        """What the address asks for; what cannot be is left out."""
        status = request.GET.get("status", "")
        return cls(
            Status(status) if status in set(Status) else None,
            request.GET.get("mine") == "1",
            number(request.GET.get("before", "")),
            number(request.GET.get("batch", "")),
        )

    def address(self, **changes: Any) -> str:
        """The same with changes, as a query string."""
        asked = {"status": self.status, "mine": int(self.mine), "before": self.before, "batch": self.batch} | changes
        return "?" + urlencode({name: str(value) for name, value in asked.items() if value})

    def tabs(self) -> list[tuple[str, str, bool]]:
        """(address, word, here) for all jobs and for each status."""
        statuses: list[tuple[Status | None, str]] = [(None, "All"), *WORDS.items()]
        return [(self.address(status=status, before=None), word, status == self.status) for status, word in statuses]

    def sought(self, tenant: Tenant, member: str) -> Sought:
        """The jobs of the tenant that it asks for. member: who asks, as `user_key`."""
        return Sought(tenant, self.status, self.batch, Q(user_key=member) if self.mine else Q())

    @property
    def newest(self) -> str:
        """The address of the first page."""
        return self.address(before=None)

    @property
    def whose(self) -> str:
        """The address with the other choice of whose jobs."""
        return self.address(mine=int(not self.mine), before=None)

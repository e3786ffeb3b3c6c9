"""A tenant's data sources, and the SQL reports that run against them as jobs."""

from __future__ import annotations

from typing import Any

from asgiref.sync import sync_to_async
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from psycopg.conninfo import conninfo_to_dict

from jobs import Asynchronous, current_job, job, queries, results, submit_many
from reports import parameters as report_parameters
from reports import query, sources
from reports.parameters import InvalidParameters, Parameter
from tenants.conf import TENANT_MODEL

TIMEOUT = 120  # seconds
MAILED_ROWS = 5
RECENT = 1_000  # jobs of a tenant in which its newest result is sought


class DataSource(models.Model):
    """A database of a tenant. The URL is a secret: it names a role and its password."""

    tenant = models.ForeignKey(TENANT_MODEL, models.CASCADE, related_name="data_sources")
    name = models.CharField(max_length=100)
    url = models.CharField(
        "database URL",
        max_length=1000,
        help_text="postgresql://role:password@host:port/database, with a role that may only read.",
    )

    class Meta:
        db_table = "data_sources"
        ordering = ["tenant", "name"]
        constraints = [
            models.UniqueConstraint(fields=["tenant", "name"], name="data_sources_name_once_per_tenant"),
            # The foreign key (tenant, source) of data_reports refers to this.
            models.UniqueConstraint(fields=["tenant", "id"], name="data_sources_tenant_and_id"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def address(self) -> str | None:
        """The address without the password: "host/database"; None if the URL is invalid."""
        if not self.url.startswith(("postgresql://", "postgres://")):
            return None
        try:
            place = conninfo_to_dict(self.url)
        except Exception:  # psycopg's own message quotes the URL
            return None
        return f"{place.get('host', 'localhost')}/{place.get('dbname', '')}"

    def clean(self) -> None:
        """Refuse a URL that would connect as the worker itself, or to the scheduler's own tables."""
        if (refusal := sources.refusal(self.url)) is not None:
            raise ValidationError({"url": refusal})


class DataReport(Asynchronous, models.Model):
    """A question to a tenant's database, in SQL, with the parameters a run may choose."""

    tenant = models.ForeignKey(TENANT_MODEL, models.CASCADE, related_name="data_reports")
    source = models.ForeignKey(DataSource, models.RESTRICT, related_name="reports")
    name = models.CharField(max_length=100)
    question = models.CharField(max_length=300, help_text="The question that it answers, for its readers.")
    sql = models.TextField("SQL", help_text="One SELECT; parameters as %(name)s; a literal % as %%.")
    parameters = models.JSONField(
        default=list,
        blank=True,
        help_text='[{"name": "state", "default": "CA", "choices": ["CA", "TX"], "label": "State"}]',
    )
    row_limit = models.PositiveIntegerField(
        default=5_000,
        validators=[MinValueValidator(1), MaxValueValidator(100_000)],
        help_text="A run that returns more is an error.",
    )

    class Meta:
        db_table = "data_reports"
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["tenant", "name"], name="data_reports_name_once_per_tenant"),
            # The migration adds FOREIGN KEY (tenant_id, source_id), which Django does not support.
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Refuse a foreign source, malformed declarations, and undeclared placeholders."""
        if self.source_id and self.tenant_id and self.source.tenant_id != self.tenant_id:
            raise ValidationError({"source": "A report and its data source must belong to the same tenant."})
        try:
            declared = {parameter.name for parameter in self.declared_parameters}
        except InvalidParameters as error:
            raise ValidationError({"parameters": str(error)}) from error
        try:
            placed = report_parameters.placed(self.sql)
        except InvalidParameters as error:
            raise ValidationError({"sql": str(error)}) from error
        if placed != declared:
            odd = ", ".join(sorted(placed ^ declared))
            raise ValidationError(
                {"parameters": f"Declare exactly the parameters in the SQL. These do not match: {odd}."}
            )

    @property
    def declared_parameters(self) -> list[Parameter]:
        return report_parameters.declared(self.parameters)

    @job(queue="reports", timeout=TIMEOUT, http=True)
    def execute(self, *, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the report and return {"columns": [...], "rows": [[...], ...]}.

        Args:
            parameters: values by name; omitted ones take their defaults.

        Raises:
            InvalidParameters: a name is unknown, or a value is missing or invalid; the message says which.
            ReportFailed: the database refused, was too slow, was unreachable, or returned too many rows.
        """
        values = report_parameters.bind(self.parameters, parameters)
        run = current_job()
        run.progress(0.1, f"Asking {self.source.name}")
        timeout = run.timeout or TIMEOUT
        table = query.read(self.source.url, self.sql, values, timeout=timeout, row_limit=self.row_limit)
        run.stats["records"] = len(table.rows)
        run.progress(1.0, f"{len(table.rows):,} rows")
        return {"columns": table.columns, "rows": table.rows}

    @job(queue="mail", timeout=60)
    async def mail(self, *, to: str) -> int:
        """Mail a summary of the newest result, and return the number of its rows.

        It only waits, for the mail server, so its queue may be in a light pool: hundreds of them share a process.

        Args:
            to: the address of its reader.
        """
        result = await sync_to_async(self.newest_result)()
        text = summary(self.question, result)
        await sync_to_async(send_mail)(self.name, text, from_email=None, recipient_list=[to])
        return len(result["rows"]) if result else 0

    def newest_result(self) -> dict[str, Any] | None:
        """Return what `execute` returned when it last succeeded as a job; None if no result is kept."""
        recent = queries.jobs(self.tenant_id)[:RECENT]  # else a report that never ran would have all jobs read
        runs = queries.jobs(self.tenant_id).filter(pk__in=recent.values("pk"), source_method="execute")
        run = runs.filter(source_type=self._meta.label_lower, source_id=str(self.pk), status="success").first()
        result = None if run is None else results.load(run)
        return None if result is None else result.value

    @classmethod
    @job(queue="reports", timeout=60, http=True)
    def refresh_all(cls) -> dict[str, list[int]]:
        """Submit every report of the job's tenant, with its defaults; returns {"jobs": [ids]}."""
        reports = cls.objects.filter(tenant=current_job().tenant)
        return {"jobs": submit_many(report.async_.execute.request() for report in reports)}


def summary(question: str, result: dict[str, Any] | None) -> str:
    """Return a result in words, for a mail: the question, the number of rows, and the first of them.

    result: what DataReport.execute returned; None if there is none
    """
    if result is None:
        return f"{question}\n\nIt has not run yet, or its result is no longer kept."
    first = [result["columns"], *result["rows"][:MAILED_ROWS]]
    lines = [" | ".join(map(str, row)) for row in first]
    return "\n".join([question, "", f"{len(result['rows']):,} rows. The first:", *lines])

"""The base of the tables that only statements read and write."""

from django.db import models


class Table(models.Model):
    """Its rows are shown to nobody, and so have no name of their own."""

    class Meta:
        abstract = True

"""A key and a row."""

from django.db import models


class Key(models.Model):
    prefix = models.CharField(max_length=12, unique=True)
    digest = models.CharField(max_length=64)  # SHA-256, hex

    def __str__(self) -> str:
        return self.prefix


class Row(models.Model):
    key = models.ForeignKey(Key, models.CASCADE)
    content = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"row {self.pk}"

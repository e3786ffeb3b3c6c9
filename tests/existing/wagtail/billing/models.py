from django.db import models


class Letter(models.Model):
    site = models.ForeignKey("wagtailcore.Site", models.CASCADE)

    def send(self, *, number):
        return f"{self.site.hostname}: {number}"

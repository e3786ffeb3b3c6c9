from django.db import connection, models


class Letter(models.Model):
    client = models.ForeignKey("customers.Client", models.CASCADE)

    def send(self, *, number):
        return f"{connection.schema_name}: {number}"

"""How would a record of Celery tasks have waited as jobs?"""

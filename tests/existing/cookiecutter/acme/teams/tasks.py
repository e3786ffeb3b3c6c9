from celery import shared_task


@shared_task
def count_teams():
    from acme.teams.models import Team

    return Team.objects.count()

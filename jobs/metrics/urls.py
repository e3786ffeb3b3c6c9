"""The addresses for monitors: `path("", include("jobs.metrics.urls"))`. The views refuse everybody else."""

from django.urls import path

from jobs.metrics import views

urlpatterns = [
    path("metrics", views.metrics),
    path("metrics/tenants", views.tenants),
    path("metrics/health", views.health),
]

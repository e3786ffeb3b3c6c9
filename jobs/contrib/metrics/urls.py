"""The addresses for monitors: `path("", include("jobs.contrib.metrics.urls"))`. The views refuse all other callers."""

from django.urls import path

from jobs.contrib.metrics import views

urlpatterns = [
    path("metrics", views.metrics),
    path("metrics/tenants", views.tenants),
    path("metrics/health", views.health),
]

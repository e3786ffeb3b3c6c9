"""`manage.py jobs install --check`: print what this project still lacks for jobs, as settings with reasons.

It must run before the settings are right, so it needs nothing but `jobs` in INSTALLED_APPS.
"""

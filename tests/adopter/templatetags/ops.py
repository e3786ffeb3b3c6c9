"""A library of tags that the project has: Django has one of a name, and `templates.W003` tells of a second."""

from django import template

register = template.Library()

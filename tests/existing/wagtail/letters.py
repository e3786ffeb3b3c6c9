"""Its tenants: each with its letter, and what the letter's job returns."""

from billing.models import Letter
from wagtail.models import Page, Site


def letters():
    for letter in Letter.objects.select_related("site"):
        yield letter.site, letter, letter.site.hostname


def new_letter():
    site = Site.objects.create(hostname="new.example.com", root_page=Page.objects.get(depth=1))
    return Letter.objects.create(site=site), "new.example.com"

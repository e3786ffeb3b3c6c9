"""Addresses of pages that a project may not have: the admin's, the logout."""

from django.urls import NoReverseMatch, reverse

from tenants.names import OURS, named


def address(view: str, *args: object) -> str:
    """The path of a view; "" if this project has none of that name."""
    try:
        return reverse(view, args=args)
    except NoReverseMatch:
        return ""


def in_admin(page: str, *args: object) -> str:
    """The path of a page of the admin, such as "index" or "jobs_queue_add"; "" without the admin, or without it there.

    Another AdminSite than Django's default one counts, too, if the project has registered our models with it.
    """
    ours = page.partition("_")[0] in OURS
    return address(f"admin:{named(page) if ours else page}", *args)


def logout() -> str:
    """Where a form of the button "Log out" is sent; "" for no button."""
    return address("logout") or in_admin("logout")

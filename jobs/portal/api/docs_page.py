"""The page that shows the OpenAPI document: ninja's, with its files from this server."""

import json
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template import TemplateDoesNotExist
from ninja import NinjaAPI
from ninja.openapi.docs import Swagger

from tenants.rendering import page


class DocsPage(Swagger):
    """Ninja's template and files may be anywhere that Django finds them.

    Ninja itself asks for its app among INSTALLED_APPS, which every worker would then import. Without its template, the
    page has the files of a CDN, as ninja does it.
    """

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        said = json.dumps(self.settings | {"url": self.get_openapi_url(api, kwargs)}, indent=1)
        try:
            return page(request, self.template, {"swagger_settings": said, "api": api, "add_csrf": True})
        except TemplateDoesNotExist:
            return super().render_page(request, api, **kwargs)

"""An engine that takes every *.html of the apps for its own, as django_jinja does, and refuses Django's tags."""

from pathlib import Path
from typing import Any, NoReturn

from django.template import TemplateDoesNotExist, TemplateSyntaxError
from django.template.backends.base import BaseEngine


class Jinja(BaseEngine):
    app_dirname = "templates"

    def __init__(self, params: dict[str, Any]) -> None:
        params = params.copy()
        params.pop("OPTIONS")
        super().__init__(params)

    def get_template(self, template_name: str) -> NoReturn:
        if any(Path(name).is_file() for name in self.iter_template_filenames(template_name)):
            raise TemplateSyntaxError("Encountered unknown tag 'load'")
        raise TemplateDoesNotExist(template_name, backend=self)

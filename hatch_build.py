"""The description on a package index is PACKAGE.md, whose links lead there to the repository's files, or nowhere.

PROJECT_URL, as https://host/owner/name, is the repository's address; the release's workflow sets it. Without it a link
to a file of the repository becomes its words.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"\[([^][]+)\]\((?!\w+:|#)([^)\s]+)\)")


def described(page: str, project: str, version: str) -> str:
    """The page as an index shows it."""
    place = f"{project.rstrip('/')}/blob/v{version}/" if project else ""
    return LINK.sub(lambda link: f"[{link[1]}]({place}{link[2]})" if place else link[1], page)


def urls(project: str, version: str) -> dict[str, str]:
    """What an index links to beside the description."""
    if not project:
        return {}
    files = f"{project.rstrip('/')}/blob/v{version}"
    return {
        "Source": project,
        "Documentation": f"{files}/docs/README.md",
        "Changes": f"{files}/docs/releases/{version}.md",
        "Security": f"{files}/SECURITY.md",
        "Issues": f"{project.rstrip('/')}/issues",
    }


class CustomMetadataHook(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        project, version = os.environ.get("PROJECT_URL", ""), metadata["version"]
        text = described(Path(self.root, "PACKAGE.md").read_text(encoding="utf-8"), project, version)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = urls(project, version)

"""The description on a package index is the README, whose links lead there to the repository's files, or nowhere.

PROJECT_URL, as https://host/owner/name, is the repository's address; the release's workflow sets it. Without it a link
to a file of the repository becomes its words.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"\[([^][]+)\]\((?!\w+:|#)([^)\s]+)\)")
PICTURE = re.compile(r"<picture>.*?</picture>\n?", re.DOTALL)
DIAGRAM = re.compile(r"^```mermaid\n.*?^```\n", re.MULTILINE | re.DOTALL)  # an index shows its text


def described(readme: str, project: str, version: str) -> str:
    """The README as an index shows it; what only the repository can show is left out."""
    shown = DIAGRAM.sub("", PICTURE.sub("", readme))
    place = f"{project.rstrip('/')}/blob/v{version}/" if project else ""
    return LINK.sub(lambda link: f"[{link[1]}]({place}{link[2]})" if place else link[1], shown)


class CustomMetadataHook(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        project, version = os.environ.get("PROJECT_URL", ""), metadata["version"]
        text = described(Path(self.root, "README.md").read_text(), project, version)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = (
            {}
            if not project
            else {
                "Source": project,
                "Documentation": f"{project}/blob/v{version}/docs/README.md",
                "Changes": f"{project}/blob/v{version}/docs/releases/{version}.md",
            }
        )

"""The README as a package index shows it: its links lead to the repository that owner.toml names."""

import re
import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE = re.compile(r"\]\((?!\w+:|#)([^)\s]+)\)")


class OwnerHook(MetadataHookInterface):
    """Sets the README and the addresses; without a repository links stay as they are."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Change the metadata in place."""
        root = Path(self.root)
        owner = tomllib.loads((root / "owner.toml").read_text(encoding="utf-8"))
        address = owner["repository"].rstrip("/")
        text = (root / "README.md").read_text(encoding="utf-8")
        if address:
            metadata["urls"] = {
                "Repository": address,
                "Issues": f"{address}/issues",
                "Changelog": f"{address}/blob/HEAD/CHANGELOG.md",
            }
            text = RELATIVE.sub(lambda link: f"]({_absolute(address, link[1])})", text)
        if owner["documentation"]:
            metadata.setdefault("urls", {})["Documentation"] = owner["documentation"]
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def _absolute(address: str, path: str) -> str:
    return (
        f"{address}/{'raw' if path.endswith(('.png', '.svg')) else 'blob'}/HEAD/{path}"
    )

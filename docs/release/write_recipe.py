"""Write dist/recipe.yaml, the conda recipe with the details of a release. `make release` runs it after the build."""

from __future__ import annotations

import hashlib
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHECKOUT = "  path: ../..\n"


def release_recipe(recipe: str, owner: dict[str, object], sdist: Path) -> str:
    """Return the recipe with the address and hash of the sdist, the project's address and its maintainers.

    Parameters
    ----------
    recipe : str
        The text of recipe.yaml.
    owner : dict
        Content of owner.toml.
    sdist : Path
        The built file, which is published with the release's tag.

    Raises
    ------
    ValueError
        If the recipe does not take its source from the checkout.
    """
    if recipe.count(CHECKOUT) != 1:
        raise ValueError(
            f"recipe.yaml: expected the source {CHECKOUT.strip()!r} once; correct it."
        )
    repository = str(owner["repository"]).rstrip("/")
    digest = hashlib.sha256(sdist.read_bytes()).hexdigest()
    url = f"{repository}/releases/download/v${{{{ version }}}}/{sdist.name}"
    recipe = recipe.replace(CHECKOUT, f"  url: {url}\n  sha256: {digest}\n")
    recipe += f"  homepage: {repository}\n"
    if owner["documentation"]:
        recipe += f"  documentation: {owner['documentation']}\n"
    maintainers = owner["maintainers"]
    assert isinstance(maintainers, list)
    lines = "".join(f"    - {name}\n" for name in maintainers)
    return f"{recipe}\nextra:\n  recipe-maintainers:\n{lines}"


if __name__ == "__main__":
    [built] = (ROOT / "dist").glob("*.tar.gz")
    stated = tomllib.loads((ROOT / "owner.toml").read_text(encoding="utf-8"))
    text = (ROOT / "docs" / "release" / "recipe.yaml").read_text(encoding="utf-8")
    target = ROOT / "dist" / "recipe.yaml"
    target.write_text(release_recipe(text, stated, built), encoding="utf-8")
    sys.stdout.write(f"{target.relative_to(ROOT)}\n")

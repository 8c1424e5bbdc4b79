"""Sphinx's settings for these pages: `make docs`."""

import importlib
import inspect
import logging
import os
import re
import sys
import tomllib
from importlib.metadata import version as version_of
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

os.environ.pop("PROVSEL_PROJECT", None)  # examples make projects of their own

project = "provsel"
author = "The provsel developers"
copyright = author
version = release = version_of("provsel")
ROOT = Path(__file__).resolve().parents[1]
repository = tomllib.loads((ROOT / "owner.toml").read_text(encoding="utf-8"))[
    "repository"
].rstrip("/")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "measured",
    "method_pages",
    "report_pages",
    # Source code leads to the repository; while that has no address, to pages of the
    # code.
    "sphinx.ext.linkcode" if repository else "sphinx.ext.viewcode",
]
exclude_patterns = ["_build", "examples", "measured", "sg_execution_times.rst"]
templates_path = ["_templates"]

# Docstrings say types in words; signatures without annotations stay readable.
autodoc_typehints = "none"
# "fit" beside the page of a class, not "BSSSelector.fit"
toc_object_entries_show_parents = "hide"
autosummary_generate = True
numpydoc_show_class_members = False
default_role = "code"  # single backticks in docstrings are code
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]

nitpicky = True
# What other projects define: linked where their inventories can be reached, and never
# checked here.
nitpick_ignore_regex = [
    (
        "py:.*",
        r"(numpy|np|scipy|sklearn|pandas|rich|matplotlib|collections|typing|abc|pathlib)(\..*)?",
    )
]

intersphinx_mapping = {
    "python": ("https://docs.python.org/3", None),
    "numpy": ("https://numpy.org/doc/stable", None),
    "scipy": ("https://docs.scipy.org/doc/scipy", None),
    "sklearn": ("https://scikit-learn.org/stable", None),
    "pandas": ("https://pandas.pydata.org/docs", None),
}
intersphinx_timeout = 5


def without_network(record: logging.LogRecord) -> bool:
    """Make the missing inventories a message: Sphinx gives that warning no type, so `suppress_warnings` cannot."""
    if (
        record.levelno == logging.WARNING
        and "failed to reach any of the inventories" in str(record.msg)
    ):
        record.levelno, record.levelname = logging.INFO, "INFO"
    return True


logging.getLogger("sphinx.sphinx.ext.intersphinx").addFilter(without_network)

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "reset_modules": ("gallery_style.set_style",),
    "thumbnail_size": (640, 400),
    "show_memory": False,
    "capture_repr": (),  # what the last line of a figure returns says nothing
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 1e6,
    "doc_module": ("provsel", "provlab"),
    "reference_url": {"provsel": None},
    "backreferences_dir": "gallery/backreferences",  # examples of a class, for its page
}

GUIDE = Path(__file__).with_name("guide.md").read_text(encoding="utf-8")
autosummary_context = {
    # Where the user guide names a class, for the link on the page of that class: the
    # guide is the only list.
    "guide": {
        name: label
        for label, text in re.findall(r"^\((guide-.+)\)=\n((?:(?!\(guide-).*\n)*)", GUIDE, re.M)
        for name in re.findall(r"\{py:class\}`~([\w.]+)`", text)
    },
    # What the laboratory calls, and authors of selectors and theorems fill in: on the
    # pages of the base classes only.
    "bases": ("BaseSelector", "BaseLinearSVM", "Theorem", "Measure"),
    "internals": (
        "fit_view", "reduce", "is_random", "needs_labels", "classes_only", "has_own_number", "order_depends_on_number",
        "fit_rows", "predict_rows", "as_record", "column", "columns", "measure", "prefix", "question", "state_column",
    ),
}  # fmt: skip

smartquotes = False  # the values of parameters are code, to be copied
html_theme = "pydata_sphinx_theme"
# browsers set MathML themselves: no script, nothing to load
html_math_renderer = "mathml"
html_title = f"provsel {version}"
html_static_path = ["_static"]
html_css_files = ["provsel.css"]
html_copy_source = html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "collapse_navigation": True,  # its toggles have no name for screen readers
}
if repository:
    html_theme_options["icon_links"] = [
        {"name": "Repository", "url": repository, "icon": "fa-solid fa-code-branch"}
    ]
html_sidebars = {"index": []}


def linkcode_resolve(domain, info):
    """Return the address of a name's source in the repository, at the tag of this version; None where it has none."""
    value = importlib.import_module(info["module"])
    for name in info["fullname"].split("."):
        value = getattr(value, name, None)
    try:
        path = Path(inspect.getsourcefile(inspect.unwrap(value)))
        lines, first = inspect.getsourcelines(value)
        place = path.relative_to(ROOT).as_posix()
    except (TypeError, ValueError, OSError):
        # a constant or a property, or code of another package
        return None
    return f"{repository}/blob/v{version}/{place}#L{first}-L{first + len(lines) - 1}"


def plain_text(app, what, name, obj, options, lines):
    """Escape what docstrings mean literally, |w| and `rank_`, after numpydoc has made its sections."""
    example = False
    for number, line in enumerate(lines):
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        if not example:
            parts = re.split(r"(`[^`]*`)", line)
            parts[::2] = [
                re.sub(r"(?<=\w)_(?!\w)", r"\_", part.replace("|", r"\|"))
                for part in parts[::2]
            ]
            lines[number] = "".join(parts)


FOR_SCREEN_READERS = {
    # the theme gives the toggles in the list of sections no name
    '<summary><span class="toctree-toggle"': '<summary aria-label="Pages below"><span class="toctree-toggle"',
    # the corner of a table is no header of anything
    '<th class="head"><p></p></th>': '<td class="head"></td>',
}


def repair_pages(app, error):
    """Change in the built pages what screen readers stumble over."""
    if error:
        return
    for page in Path(app.outdir).rglob("*.html"):
        before = page.read_text(encoding="utf-8")
        after = before
        for theirs, ours in FOR_SCREEN_READERS.items():
            after = after.replace(theirs, ours)
        if after != before:
            page.write_text(after, encoding="utf-8")


def mathml(self, node):
    """Write a formula as MathML."""
    block = node.tagname == "math_block"
    formula = tex2mathml(node.astext(), as_block=block)
    self.body.append(
        f'<div class="formula" tabindex="0">{formula}</div>\n' if block else formula
    )
    raise nodes.SkipNode


def setup(app):
    """Register what is written here."""
    app.add_html_math_renderer("mathml", (mathml, None), (mathml, None))
    app.connect("autodoc-process-docstring", plain_text, priority=900)
    # before the report is put beside the pages
    app.connect("build-finished", repair_pages, priority=100)

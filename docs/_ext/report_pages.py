"""The HTML report among the pages: the report in `results/` or, without one, a report on the committed trials."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

REPO = Path(__file__).resolve().parents[2]
MADE = REPO / "results" / "report"
SAMPLE = REPO / "results" / "reference" / "sample"
OF_RESULTS = "provsel report wrote it from the trials stored in this checkout."
OF_SAMPLE = (
    "provsel report wrote it from the committed sample of the reference run: a few trials of each artefact on "
    "synthetic data. Most numbers are missing, and verdicts are based on these few trials. The pages of the papers "
    "show the verdicts of the whole run. If all trials are stored, make report docs adds the missing numbers."
)


def add_report(folder: Path) -> None:
    """Put the report into the folder of the built pages, and replace an older one."""
    target = folder / "report"
    shutil.rmtree(target, ignore_errors=True)
    if (MADE / "index.html").is_file():
        shutil.copytree(MADE, target)
        return
    with tempfile.TemporaryDirectory() as made:
        shutil.copytree(SAMPLE, Path(made) / "store")
        command = [sys.executable, "-m", "provlab.cli", "report", f"results={made}"]
        done = subprocess.run(
            command, cwd=REPO, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise ExtensionError(f"provsel report: {done.stderr}")
        shutil.copytree(Path(made) / "report", target)


class ReportLink(SphinxDirective):
    """A link to the report, with the source of its numbers."""

    def run(self) -> list[nodes.Node]:
        """Return a paragraph."""
        said = OF_RESULTS if (MADE / "index.html").is_file() else OF_SAMPLE
        link = nodes.reference(
            "", "Open the report", refuri="../report/index.html", internal=True
        )
        return [nodes.paragraph("", "", link, nodes.Text(f". {said}"))]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive, and write the report after the pages."""
    app.add_directive("report-link", ReportLink)
    app.connect(
        "build-finished",
        lambda app, error: (
            add_report(Path(app.outdir))
            if not error and app.builder.name == "html"
            else None
        ),
    )
    return {"parallel_read_safe": True}

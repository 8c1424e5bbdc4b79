"""What the README says works and exists; `test_texts.py` has its numbers."""

import re
import subprocess

import pytest

from forking import run_forked_text
from small_runs import REPO

TEXT = (REPO / "README.md").read_text(encoding="utf-8")
ARTEFACTS = (REPO / "docs" / "artefacts.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", TEXT, re.S)


@pytest.mark.parametrize(
    ("block", "printed"), BLOCKS, ids=[block.splitlines()[1] for block, _ in BLOCKS]
)
def test_python_runs_in_an_empty_folder(block, printed, tmp_path):
    done = run_forked_text(block, tmp_path)
    assert done.returncode == 0, done.stderr
    assert printed in done.stdout


def test_the_readme_is_short():
    assert len(TEXT.splitlines()) <= 150


def test_targets_of_make_exist():
    targets = {
        name
        for line in re.findall(r"`make ([^`=]*)", TEXT + ARTEFACTS)
        for name in re.findall(r"^[\w-]+", line)
    }
    targets |= set(re.findall(r"`(-[\w-]+)`", ARTEFACTS.split("```")[0]))
    assert {"reproduce-table1", "verify", "bench"} <= targets
    for target in sorted(targets):
        name = target if not target.startswith("-") else f"reproduce{target}"
        dry_run = subprocess.run(
            ["make", "--dry-run", name],
            cwd=REPO,
            capture_output=True,
            text=True,
            check=False,
        )
        assert dry_run.returncode == 0, dry_run.stderr


PLACES = (".", "docs", "docs/*", "experiments/*", "results", "results/reference")
FILES = [path for place in PLACES for path in sorted(REPO.glob(f"{place}/*.md"))]
MADE = "gallery/"  # by the build of the pages


@pytest.mark.parametrize(
    "path", FILES, ids=lambda path: path.relative_to(REPO).as_posix()
)
def test_links_lead_to_files_and_headings(path):
    text = re.sub(
        r"^```.*?^```|`[^`\n]*`",
        "",
        path.read_text(encoding="utf-8"),
        flags=re.M | re.S,
    )
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        file, _, anchor = link.partition("#")
        if "://" in link or file.removeprefix("../").startswith(MADE):
            continue
        target = path.parent / file if file else path
        assert target.exists(), link
        # of pages of docs the build knows
        if anchor and target.suffix == ".md" and path.parent.name != "docs":
            headings = re.findall(
                r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.M
            )
            anchors = [
                re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-")
                for heading in headings
            ]
            assert anchor in anchors, link
